package admin_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/admin"
	"example.com/projecthub/hubclient/pat"
)

func TestBot_CreateListToken(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(admin.Bot, "list").Done().Prints("No bots that you can see")
	w.Run(admin.Bot, "token", "@alice/ci", "--name", "x", "--json").Fails("not_found", "token")
	w.Run(admin.Bot, "create", "@alice/ci").Done().Prints("Created the bot @alice/ci\n  origin       " + w.Origin)
	w.Run(admin.Bot, "create", "@alice/ci").Done().Prints("exists already")
	w.Unprinted("the bot exists", admin.Bot, "create", "@alice/ci")
	w.Run(admin.Bot, "list", "--json").Done().Prints(`"botRefId":"@alice/ci"`)
	v := w.Run(admin.Bot, "token", "@alice/ci", "--name", "x", "--json").Done().JSON()
	if token, _ := v["token"].(string); v["type"] != "botToken" || !pat.Valid(token) {
		t.Errorf("%v", v)
	}
	w.Run(admin.Bot, "create", "@bob/ci", "--json").Fails("not_permitted", "create")
	for _, args := range [][]string{{"create"}, {"create", "ci"}, {"token", "@alice/ci"}, {"token", "x", "--name", "n"},
		{"token", "@alice/ci", "--name", "x", "--expires", "soon"}} {
		w.Run(admin.Bot, args...).Exits(2)
	}
}

func TestBotToken_ListAndRevoke(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(admin.Bot, "create", "@alice/ci").Done()
	w.Run(admin.Bot, "token", "list", "@alice/ci").Done().Prints("@alice/ci has no valid tokens")
	id, _ := w.Run(admin.Bot, "token", "@alice/ci", "--name", "pipeline", "--json").Done().JSON()["id"].(string)
	w.Run(admin.Bot, "token", "list", "@alice/ci").Done().Prints(id, "pipeline", "write:config", "until ", "never used")
	w.Run(admin.Bot, "token", "revoke", "@alice/ci", id).Done().Prints("Revoked " + id + " (pipeline of @alice/ci)")
	w.Run(admin.Bot, "token", "list", "@alice/ci").Done().Prints("@alice/ci has no valid tokens")

	f := w.Run(admin.Bot, "token", "revoke", "@alice/ci", id, "0123456789ab", "--json").Fails("not_found", "revoke")
	if hint, _ := f["hint"].(string); !strings.Contains(hint, "revoked before this failure: "+id) {
		t.Errorf("%v", f)
	}
	w.Run(admin.Bot, "token", "list", "@alice/none", "--json").Fails("not_found", "list")
	for _, args := range [][]string{{"token", "list"}, {"token", "revoke"}, {"token", "revoke", "@alice/ci"},
		{"token", "revoke", "@alice/ci", "x"}, {"token", "revoke", "ci", id}} {
		w.Run(admin.Bot, args...).Exits(2)
	}
}

func TestBotRm_AsksForTheWholeName(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(admin.Bot, "create", "@alice/ci").Done()
	w.Run(admin.Bot, "token", "@alice/ci", "--name", "pipeline").Done()
	w.UI.Answers = []string{"", "@alice/ci"}
	w.Run(admin.Bot, "rm", "@alice/ci").Done().Prints("Aborted")
	w.Run(admin.Bot, "rm", "@alice/ci").Done().Prints("Deleted the bot @alice/ci; revoked tokens: 1")
	w.Run(admin.Bot, "rm", "@alice/ci", "--force").Done().Prints("was gone already")
	w.Unprinted("the bot is gone", admin.Bot, "rm", "@alice/ci", "--force")
	w.Run(admin.Bot, "rm", "@bob/ci", "--force", "--json").Fails("not_permitted", "rm")
	w.Run(admin.Bot, "rm", "ci").Exits(2)
}
