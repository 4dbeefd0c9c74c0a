package login_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/login"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
)

// loggedOut returns a World without a stored token.
func loggedOut(t *testing.T) *apptest.World {
	t.Helper()
	t.Parallel()
	w := apptest.New(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	return w
}

func TestLogin_StoresTheTokenFromStdin(t *testing.T) {
	w := loggedOut(t)
	w.Stdin = w.Token + "\n"
	w.Run(login.Command, "--with-token").Done().Prints("Logged in to "+w.Origin+" as alice", "write:config")
	w.Run(login.LogoutCommand).Done().Prints("Logged out of " + w.Origin)
	w.Run(login.LogoutCommand).Done().Prints("No token was stored for " + w.Origin)
}

func TestLogin_AsksForTheTokenThatIsMissing(t *testing.T) {
	w := loggedOut(t)
	delete(w.Env, "TOOL_API_ORIGIN")
	w.UI.Answers = []string{w.Origin, "token", w.Token}
	w.Run(login.Command).Done().Prints("Logged in to")
	if len(w.UI.Asked) != 3 || !strings.Contains(w.UI.Asked[0], "Which hub?") ||
		!strings.Contains(w.UI.Asked[2], "Token for "+w.Origin) {
		t.Errorf("asked %q", w.UI.Asked)
	}
	w.UI.Answers = []string{w.Origin}
	w.Run(login.Command).Done() // the stored token is still good
}

func TestLogin_SaysWhyTheStoredTokenWillNotDo(t *testing.T) {
	w := loggedOut(t)
	w.Run(login.Command, "--token", w.Token).Done()
	w.Env["TOOL_CA_FILE"] = filepath.Join(w.Dir, "none.pem")
	w.Run(login.Command, "--origin", w.Origin).Exits(1).Prints("TOOL_CA_FILE")
	delete(w.Env, "TOOL_CA_FILE")

	path := filepath.Join(w.Env["TOOL_CONFIG_DIR"], "login.json")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(file, []byte(w.Token), []byte(w.Token[:20])), 0o600); err != nil {
		t.Fatal(err)
	}
	w.UI.Answers = []string{"token", w.Token}
	w.Run(login.Command, "--origin", w.Origin).Done()
	if !strings.Contains(w.UI.Asked[0], "The stored token is damaged.") {
		t.Errorf("asked %q", w.UI.Asked)
	}
}

func TestLogin_FailsWithoutAGoodToken(t *testing.T) {
	w := loggedOut(t)
	w.Strict = true
	w.Run(login.Command).Exits(2).Prints("needs a token: none is stored for it")
	w.Run(login.Command, "--json", "--token", pat.New()).Fails("unauthorized", "login")
	w.Run(login.Command, "--json", "--token", "hubpat_x").Fails("token_malformed", "login")
	w.Run(login.Command, "--json", "--with-token").Fails("no_token", "login")
	w.Run(login.Command, "--with-token", "--token", "x").Exits(2)
	w.Run(login.Command, w.Token).Exits(2).Prints("takes no token as an argument")
	w.Run(login.Command, "127.0.0.1:4680").Exits(2).Prints(" login --origin http://127.0.0.1:4680\n")
}

// browser acts as a person on the hub's page, who decides about each terminal that
// starts to wait.
func browser(t *testing.T, w *apptest.World, decide func(client *http.Client, code string)) {
	t.Helper()
	t.Setenv("PATH", t.TempDir()) // no browser can be started
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	post(t, client, w.Origin+"/sign-in", url.Values{"token": {w.Token}})
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/device" {
			return false
		}
		answer := httptest.NewRecorder()
		w.Hub.ServeHTTP(answer, r)
		var d wire.Device
		if err := json.Unmarshal(answer.Body.Bytes(), &d); err != nil {
			t.Error(err)
		}
		decide(client, d.UserCode)
		d.Interval = 0 // the least that the terminal waits
		maps.Copy(rw.Header(), answer.Header())
		rw.Header().Del("Content-Length")
		rw.WriteHeader(answer.Code)
		if err := json.NewEncoder(rw).Encode(d); err != nil {
			t.Error(err)
		}
		return true
	})
}

func post(t *testing.T, client *http.Client, address string, form url.Values) {
	t.Helper()
	resp, err := client.PostForm(address, form)
	if err != nil {
		t.Error(err)
		return
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s: status %d", address, resp.StatusCode)
	}
}

func TestLogin_IsApprovedInABrowser(t *testing.T) {
	w := apptest.New(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	delete(w.Env, "TOOL_API_ORIGIN")
	browser(t, w, func(client *http.Client, code string) {
		post(t, client, w.Origin+"/device",
			url.Values{"code": {code}, "decision": {"approve"}, "scopes": {"write:config"}, "lifetime": {"30d"}})
	})
	w.UI.Answers = []string{w.Origin, "browser"}
	w.Run(login.Command).Done().Prints("Your code: ", "Compare both",
		"No browser could be started from here", "Logged in to "+w.Origin+" as alice", "write:config")
	if !strings.HasPrefix(w.UI.Asked[1], "How do you log in to "+w.Origin+"?") {
		t.Errorf("asked %q", w.UI.Asked)
	}
}

func TestLogin_RevokesAnApprovedTokenThatCannotBeStored(t *testing.T) {
	w := apptest.New(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	w.Env["TOOL_CONFIG_DIR"] = filepath.Join(w.Dir, "config")
	approve := func(client *http.Client, code string) {
		w.Write("config", "a file in place of the directory")
		post(t, client, w.Origin+"/device", url.Values{"code": {code}, "decision": {"approve"}, "lifetime": {"30d"}})
	}
	valid := func() int {
		tokens, err := w.Client().Tokens(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(tokens)
	}
	before := valid()
	browser(t, w, approve)
	w.UI.Answers = []string{"browser"}
	w.Run(login.Command, "--origin", w.Origin).Exits(1).Prints("cannot be written",
		"hint: the token that you approved is revoked")
	if after := valid(); after != before {
		t.Errorf("%d tokens are valid, %d were before", after, before)
	}
}

func TestLogin_IsDeniedInABrowser(t *testing.T) {
	w := apptest.New(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	browser(t, w, func(client *http.Client, code string) {
		post(t, client, w.Origin+"/device", url.Values{"code": {code}, "decision": {"deny"}})
	})
	w.UI.Answers = []string{"browser"}
	w.Run(login.Command, "--origin", w.Origin).Exits(1).Prints("the user denied the request", "login --origin "+w.Origin)
}

func TestLogin_OlderHubApprovesNoTerminals(t *testing.T) {
	w := loggedOut(t)
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/v1/device" {
			r.URL.Path = "/v1/unknown"
		}
		return false
	})
	w.UI.Answers = []string{"browser"}
	w.Run(login.Command, "--origin", w.Origin).Exits(1).Prints("paste a token instead")
}

func TestLogin_EndsWhenTheCodeExpiresThoughTheHubSaysToWait(t *testing.T) {
	w := apptest.New(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	t.Setenv("PATH", t.TempDir()) // no browser can be started
	polls := 0
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/v1/device":
			rw.Header().Set("Content-Type", "application/json")
			rw.Header().Set("Hub-Version", "1.0.0")
			d := wire.Device{DeviceCode: "d", UserCode: "u", VerificationURI: w.Origin + "/device", Interval: -1}
			json.NewEncoder(rw).Encode(d)
			return true
		case "/v1/device/token":
			if polls++; polls > 1 {
				t.Error("the code had expired")
				return false
			}
			return apptest.Refuse(rw, http.StatusBadRequest, wire.CodeAuthorizationPending, "not yet")
		}
		return false
	})
	w.UI.Answers = []string{"browser"}
	w.Run(login.Command, "--origin", w.Origin).Exits(1).Prints("not yet (stage login)")
}

func TestLogin_ShowsNoCodeOfAnotherHub(t *testing.T) {
	w := apptest.New(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	t.Setenv("PATH", t.TempDir()) // no browser can be started
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/v1/device":
			rw.Header().Set("Content-Type", "application/json")
			rw.Header().Set("Hub-Version", "1.0.0")
			d := wire.Device{DeviceCode: "d", UserCode: "BBBB-CCCC", VerificationURI: "https://other.test/device", Interval: -1}
			json.NewEncoder(rw).Encode(d)
			return true
		case "/v1/device/token":
			t.Error("it asks for a token of another hub")
		}
		return false
	})
	w.UI.Answers = []string{"browser"}
	r := w.Run(login.Command, "--origin", w.Origin).Exits(1).
		Prints("https://other.test/device is not a page of "+w.Origin,
			"hint: if that is the hub's address, give its origin with --origin")
	if strings.Contains(r.Out+r.Err, "BBBB-CCCC") {
		t.Errorf("it shows the code: %s", r.Err)
	}
}
