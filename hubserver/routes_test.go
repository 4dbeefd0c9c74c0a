package hubserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
)

var endpoints = hubserver.Endpoints()

// routes lists the method and path of every endpoint.
func routes() (all []string) {
	for _, e := range endpoints {
		all = append(all, e.Method+" "+e.Path)
	}
	return all
}

func TestRegister_RefusesIncompleteEndpoints(t *testing.T) {
	extra := wire.Endpoint{Op: "extra", Method: "GET", Path: "/v1/extra", Account: wire.AnyToken}
	for want, endpoints := range map[string][]wire.Endpoint{
		"has no handler":    append(slices.Clone(endpoints), extra),
		"handlers for":      endpoints[1:],
		"does not say what": {{Op: wire.OpWhoami, Method: "GET", Path: "/v1/whoami"}},
		"a role without an account": {{Op: wire.OpWhoami, Method: "GET", Path: "/v1/whoami", Account: wire.AnyToken,
			Role: wire.Reader}},
		"an account without a role": {{Op: wire.OpWhoami, Method: "GET", Path: "/v1/whoami", Account: wire.InPath}},
		`unknown role "owner"`: {{Op: wire.OpWhoami, Method: "GET", Path: "/v1/whoami", Account: wire.InPath,
			Role: "owner"}},
		`unknown scope "write:everything"`: {{Op: wire.OpWhoami, Method: "GET", Path: "/v1/whoami", Account: wire.AnyToken,
			Scope: "write:everything"}},
	} {
		hub := one(t, nil)
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			hub.server.Register(endpoints)
		}()
	}
}
