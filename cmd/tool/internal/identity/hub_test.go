package identity_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// refusing returns a hub that answers every request with one problem.
func refusing(t *testing.T, status int, code wire.Code) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Hub-Version", "1.0.0")
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		w.Write([]byte(`{"code":"` + string(code) + `","detail":"no","hint":"ask","requestId":"r1"}`))
	}))
	t.Cleanup(server.Close)
	return server
}

// ask connects as o says, and returns the failure of a call.
func ask(t *testing.T, o identity.Options) (*identity.Identity, error) {
	t.Helper()
	return askWithin(t, hubclient.DefaultTimeout, o)
}

func askWithin(t *testing.T, timeout time.Duration, o identity.Options) (*identity.Identity, error) {
	t.Helper()
	id, err := identity.Resolve(o)
	if err != nil {
		t.Fatal(err)
	}
	hub, err := id.Connect(hubclient.Options{Timeout: timeout})
	if err != nil {
		return id, err
	}
	_, err = hub.Whoami(t.Context())
	return id, hub.Fault(err)
}

func TestHubFault_NamesRefusedTokenBySourceAndPrefix(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		hub := refusing(t, status, wire.CodeTokenRevoked)
		stored := logins(t, hub.URL, map[string]string{hub.URL: tokenA})
		for place, test := range map[string]struct {
			options identity.Options
			token   string
			recipe  string
		}{
			"--token": {identity.Options{Token: &flagToken, Origin: &hub.URL, LookupEnv: environment()}, flagToken,
				""},
			identity.TokenVariable: {identity.Options{Origin: &hub.URL,
				LookupEnv: environment(identity.TokenVariable + "=" + envToken)}, envToken, ""},
			"the login file": {identity.Options{LookupEnv: environment()}, tokenA, "tool login --origin " + hub.URL},
		} {
			test.options.Logins = stored
			_, err := ask(t, test.options)
			e := wantFault(t, err, wire.CodeTokenRevoked)
			if want := "no (the token " + test.token[:12] + "… of " + place + ")"; e.Error() != want {
				t.Errorf("%d: %q, want %q", status, e.Error(), want)
			}
			if strings.Contains(e.Error()+e.Hint, test.token[:13]) {
				t.Errorf("more of the token is shown: %v", e)
			}
			if status == http.StatusForbidden {
				test.recipe = "" // another token of the same user would not do
			}
			if strings.Trim(fmt.Sprint(e.Recipe), "[]") != test.recipe || e.Hint != "ask" || e.Status != status ||
				e.RequestID != "r1" {
				t.Errorf("%d of %s: %+v", status, place, e)
			}
			if !hubclient.HasCode(err, wire.CodeTokenRevoked) {
				t.Error("the client's error is lost")
			}
		}
	}
}

func TestHubFault_401WithoutTokenAsksForOne(t *testing.T) {
	hub := refusing(t, http.StatusUnauthorized, wire.CodeUnauthorized)
	_, err := ask(t, identity.Options{Origin: &hub.URL, LookupEnv: environment(), Logins: logins(t, "", nil)})
	if e := wantFault(t, err, failure.CodeNoToken); e.Error() != "there is no token for "+hub.URL {
		t.Error(e)
	}
	hub = refusing(t, http.StatusForbidden, wire.CodeNotPermitted)
	_, err = ask(t, identity.Options{Origin: &hub.URL, LookupEnv: environment(), Logins: logins(t, "", nil)})
	if e := wantFault(t, err, wire.CodeNotPermitted); e.Error() != "no" {
		t.Error(e)
	}
}

func TestHubFault_KeepsOtherFailures(t *testing.T) {
	hub := refusing(t, http.StatusPreconditionFailed, wire.CodeRevisionChanged)
	_, err := ask(t, identity.Options{Token: &flagToken, Origin: &hub.URL, LookupEnv: environment(),
		Logins: logins(t, "", nil)})
	e := wantFault(t, err, wire.CodeRevisionChanged)
	if e.Error() != "no" || e.Hint != "ask" || e.Status != http.StatusPreconditionFailed || e.RequestID != "r1" ||
		e.Recipe != nil {
		t.Errorf("%+v", e)
	}
}

func TestHubFault_ExplainsUnreachableDefaultOrigin(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	usual := identity.DefaultOrigin
	defer func() { identity.DefaultOrigin = usual }()
	identity.DefaultOrigin = closed.URL
	for source, test := range map[identity.Source]struct {
		options identity.Options
		says    bool
	}{
		identity.FromDefault: {identity.Options{LookupEnv: environment()}, true},
		identity.FromFlag:    {identity.Options{Origin: &closed.URL, LookupEnv: environment()}, false},
		identity.FromEnvironment: {identity.Options{LookupEnv: environment(identity.OriginVariable + "=" + closed.URL)},
			false},
	} {
		test.options.Token, test.options.Logins = &flagToken, logins(t, "", nil)
		id, err := askWithin(t, 90*time.Millisecond, test.options) // too short to try again
		e := wantFault(t, err, hubclient.CodeUnreachable)
		if id.OriginSource != source ||
			(e.Hint == "no hub's address was given: name it with --origin or TOOL_API_ORIGIN") != test.says {
			t.Errorf("%s: hint %q", source, e.Hint)
		}
	}
}

func TestHubFault_KeepsBetterHint(t *testing.T) {
	hub := httptest.NewUnstartedServer(nil)
	hub.Config.ErrorLog = log.New(io.Discard, "", 0)
	hub.StartTLS()
	defer hub.Close()
	usual := identity.DefaultOrigin
	defer func() { identity.DefaultOrigin = usual }()
	identity.DefaultOrigin = hub.URL
	_, err := ask(t, identity.Options{Token: &flagToken, LookupEnv: environment(), Logins: logins(t, "", nil)})
	if e := wantFault(t, err, hubclient.CodeUnreachable); !strings.Contains(e.Hint, "TOOL_CA_FILE") {
		t.Errorf("the hint is %q", e.Hint)
	}
}

func TestConnect_DoesNotSendDamagedStoredToken(t *testing.T) {
	stored := logins(t, a, map[string]string{a: tokenA[:40]})
	_, err := ask(t, identity.Options{LookupEnv: environment(), Logins: stored})
	e := wantFault(t, err, hubclient.CodeTokenMalformed)
	if e.Error() != "the token of the login file is damaged" || strings.Contains(e.Hint, tokenA[:12]) {
		t.Errorf("%v, %q", e, e.Hint)
	}
}

func TestConnect_RefusesPlainHTTPBeyondLoopback(t *testing.T) {
	_, err := ask(t, identity.Options{Token: &flagToken, Origin: given("http://hub.example.com"), LookupEnv: environment(),
		Logins: logins(t, "", nil)})
	if e := wantFault(t, err, hubclient.CodeInsecureOrigin); !strings.Contains(e.Hint, "TOOL_ALLOW_HTTP=1") {
		t.Error(e)
	}
}

func TestHubFault_LeavesOtherErrorsUnchanged(t *testing.T) {
	id, err := identity.Resolve(identity.Options{Token: &flagToken, LookupEnv: environment(), Logins: logins(t, "", nil)})
	if err != nil {
		t.Fatal(err)
	}
	hub, err := id.Connect(hubclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if hub.Fault(nil) != nil || hub.Fault(context.Canceled) != context.Canceled {
		t.Error("nothing, or an interrupt, becomes a failure")
	}
	local := failure.New(failure.CodeInvalidFile, "web changed").WithHint("again")
	if got := failure.Of(hub.Fault(local)); !reflect.DeepEqual(got, local) {
		t.Errorf("%+v", got)
	}
	if e := wantFault(t, hub.Fault(os.ErrPermission), wire.CodeInternal); !errors.Is(e, os.ErrPermission) {
		t.Error(e)
	}
}

func TestHubFault_UnreachableNamesTheFileThatGivesTheOrigin(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	stored := logins(t, gone.URL, map[string]string{gone.URL: tokenA})
	for place, o := range map[string]identity.Options{
		"client.ENV.json": {EnvFile: gone.URL, Workspace: "https://hub.example.com"},
		".tool/hub.json":  {Workspace: gone.URL},
		"--origin":        {Origin: &gone.URL, Workspace: gone.URL},
		"the login":       {},
	} {
		o.Logins, o.LookupEnv = stored, func(string) (string, bool) { return "", false }
		_, err := ask(t, o)
		if e := wantFault(t, err, hubclient.CodeUnreachable); !strings.Contains(e.Hint, place) {
			t.Errorf("%s: the hint is %q", place, e.Hint)
		}
	}
}
