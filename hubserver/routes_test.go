package hubserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

var endpoints = hubserver.Endpoints()

// routes lists the method and path of every endpoint.
func routes() (all []string) {
	for _, e := range endpoints {
		all = append(all, e.Method+" "+e.Path)
	}
	return all
}

func TestRegister_RefusesAnEndpointWithoutAHandler(t *testing.T) {
	hub := one(t, nil)
	defer func() {
		if got := fmt.Sprint(recover()); got != "GET /v1/extra has no handler" {
			t.Errorf("panic %q", got)
		}
	}()
	hub.server.Register([]wire.Endpoint{{Op: "extra", Method: "GET", Path: "/v1/extra", Account: wire.AnyToken}})
}

func TestEndpoints_SayWhatTheirCallersNeed(t *testing.T) {
	ops := map[wire.Op]bool{}
	for _, e := range endpoints {
		needsRole := e.Account != wire.Anonymous && e.Account != wire.AnyToken
		inPath := strings.HasPrefix(e.Path, "/v1/") && strings.Contains(e.Path, "{account}")
		if inPath != (e.Account == wire.InPath) || needsRole != (e.Role != "") || store.Rank(string(e.Role)) < 0 ||
			e.Scope != "" && !slices.Contains(wire.Scopes, e.Scope) || ops[e.Op] {
			t.Errorf("%s %s: account %d, role %q, scope %q", e.Method, e.Path, e.Account, e.Role, e.Scope)
		}
		ops[e.Op] = true
	}
}
