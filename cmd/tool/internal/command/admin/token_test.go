package admin_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/admin"
	"example.com/projecthub/cmd/tool/internal/command/login"
	"example.com/projecthub/hubclient/pat"
)

func TestTokenCreate_PrintsTheTokenAlone(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	r := w.Run(admin.Token, "create", "--name", "laptop").Done()
	if !pat.Valid(strings.TrimSuffix(r.Out, "\n")) ||
		r.Err != "note: this token is shown once; the hub keeps only its hash\n" {
		t.Errorf("%q, %q", r.Out, r.Err)
	}
	v := w.Run(admin.Token, "create", "--name", "reader", "--read-only", "--account", "@alice", "--expires", "7d",
		"--json").Done().JSON()
	if created, _ := v["token"].(string); v["type"] != "token" || !pat.Valid(created) || v["account"] != "alice" ||
		v["expiresAt"] == nil || len(v["scopes"].([]any)) != 0 {
		t.Errorf("%v", v)
	}
	w.Unprinted("the token was created", admin.Token, "create", "--name", "lost")
	w.Run(admin.Token, "list").Done().Prints("laptop", "write:config", "reader", "read on @alice", "in use",
		"never expires")
	w.Run(admin.Token, "create", "--name", strings.Repeat("long ", 20), "--project", w.Project(`{}`).String()).Done()
	list := w.Run(admin.Token, "list").Done().Out
	for line := range strings.Lines(list) {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	w.Run(admin.Token, "list", "--json").Done().Prints(`"type":"tokens"`, `"self":true`, `"account":"alice"`)
}

func TestTokenCreate_Refusals(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	for _, args := range [][]string{
		{}, {"--name", "x", "more"}, {"--name", "x", "--expires", "soon"},
		{"--name", "x", "--scope", "use:limit", "--read-only"},
		{"--name", "x", "--account", "alice", "--project", "@alice/web"}, {"--name", "x", "--account", "ALICE"},
		{"--name", "x", "--project", "web"},
	} {
		w.Run(admin.Token, append([]string{"create"}, args...)...).Exits(2)
	}
	w.Run(admin.Token, "create", "--name", "x", "--scope", "use:limit", "--json").Fails("missing_scope", "create")
	w.Run(admin.Token, "create", "--name", "x", "--account", "bob", "--json").Fails("not_permitted", "create")
	w.Run(admin.Token, "create", "--name", "x", "--project", "@alice/none", "--json").Fails("invalid_body", "create")
}

func TestTokenRevoke_ByID(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	id, _ := w.Run(admin.Token, "create", "--name", "laptop", "--json").Done().JSON()["id"].(string)
	w.Run(admin.Token, "revoke", id).Done().Prints("Revoked " + id + " (laptop)")
	w.Run(admin.Token, "revoke").Exits(2).Prints("token list")
	w.Run(admin.Token, "revoke", "laptop").Exits(2)
	f := w.Run(admin.Token, "revoke", "self", id, "0123456789ab", "--json").Fails("not_found", "revoke")
	if hint, _ := f["hint"].(string); hint != "revoked before this failure: "+id {
		t.Errorf("%v", f)
	}
	w.Run(admin.Token, "list").Done() // self would have been the last one
}

func TestTokenRevoke_NamesTheTokensThatEndWithIt(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	own := w.Token
	parent := func(children int) (id string, born []string) {
		w.Env["TOOL_HUB_TOKEN"] = own
		created := w.Run(admin.Token, "create", "--name", "parent", "--json").Done().JSON()
		w.Env["TOOL_HUB_TOKEN"], _ = created["token"].(string)
		for i := range children {
			name := fmt.Sprint("child-", i)
			child, _ := w.Run(admin.Token, "create", "--name", name, "--json").Done().JSON()["id"].(string)
			born = append(born, child+" ("+name+")")
		}
		w.Env["TOOL_HUB_TOKEN"] = own
		id, _ = created["id"].(string)
		return id, born
	}
	id, born := parent(12)
	want := "Revoked " + id + " (parent)\nRevoked with it: " + strings.Join(born[:10], ", ") + ", and 2 more\n"
	if r := w.Run(admin.Token, "revoke", id).Done(); r.Out != want {
		t.Errorf("%q, want %q", r.Out, want)
	}
	id, born = parent(1)
	childID, _, _ := strings.Cut(born[0], " ")
	w.Run(admin.Token, "revoke", id, "--json").Done().Prints(`"alsoRevoked":[{"id":"` + childID + `","name":"child-0"}]`)
	if r := w.Run(admin.Token, "revoke", id, "--json").Done(); strings.Contains(r.Out, "alsoRevoked") {
		t.Errorf("%q", r.Out)
	}
}

func TestTokenRevoke_AdviceHasNoPasswordOfTheOrigin(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Env["TOOL_API_ORIGIN"] = "https://alice:secret@hub.example.com"
	if r := w.Run(admin.Token, "revoke").Exits(2).Prints("token list"); strings.Contains(r.Out+r.Err, "secret") {
		t.Errorf("it prints %q, %q", r.Out, r.Err)
	}
}

func TestTokenRevoke_SelfLogsOut(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(login.Command, "--token", w.Token, "--no-input").Done()
	given := w.NewToken("")
	w.Env["TOOL_HUB_TOKEN"] = given
	w.Run(admin.Token, "revoke", "self").Done().Prints("Revoked "+pat.ID(given)+" (test)",
		"the token that the variable gives is no longer valid")
	w.Run(admin.Token, "revoke", "self").Done().Prints("was revoked already")
	delete(w.Env, "TOOL_HUB_TOKEN")
	delete(w.Env, "TOOL_API_ORIGIN")
	v := w.Run(admin.Token, "revoke", pat.ID(w.Token), "--json").Done().JSON()
	if v["loggedOut"] != true || v["type"] != "tokensRevoked" {
		t.Errorf("%v", v)
	}
	w.Run(admin.Token, "list", "--json").Fails("no_token", "list")
}

func TestWarning_OfATokenThatExpiresSoon(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	expiring := func(lifetime string) string {
		w.Env["TOOL_HUB_TOKEN"] = w.Token
		return strings.TrimSpace(w.Run(admin.Token, "create", "--name", lifetime, "--expires", lifetime).Done().Out)
	}
	w.Env["TOOL_HUB_TOKEN"] = expiring("15d")
	if r := w.Run(admin.Token, "list").Done(); r.Err != "" {
		t.Errorf("%q", r.Err)
	}
	w.Env["TOOL_HUB_TOKEN"] = expiring("13d")
	r := w.Run(admin.Token, "list", "--json").Done()
	if !strings.HasPrefix(r.Err, "warning: the token of TOOL_HUB_TOKEN expires on ") ||
		!strings.Contains(r.Err, w.Origin+"/tokens") || r.JSON()["type"] != "tokens" {
		t.Errorf("%q", r.Err)
	}
	if r := w.Run(admin.Token, "list").Done(); r.Err != "" { // once a day
		t.Errorf("%q", r.Err)
	}

	stored := expiring("1d")
	w.Run(login.Command, "--token", stored, "--no-input").Done()
	delete(w.Env, "TOOL_HUB_TOKEN")
	delete(w.Env, "TOOL_API_ORIGIN")
	r = w.Run(admin.Token, "list").Done().Prints("warning: the token of the login file expires on ",
		"to get another one: tool", "login --origin "+w.Origin)
	if !regexp.MustCompile(`expires on \d+ \w+ \d{4} \d\d:\d\d `).MatchString(r.Err) { // the day alone may be today
		t.Errorf("%q", r.Err)
	}
	if r := w.Run(admin.Token, "revoke", "self").Done(); r.Err != "" {
		t.Errorf("%q", r.Err)
	}
}
