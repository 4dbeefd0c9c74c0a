package bot_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/bot"
	"example.com/projecthub/hubclient/pat"
)

func TestBot_CreateListToken(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(bot.Command, "list").Done().Prints("No bots that you can see")
	w.Run(bot.Command, "token", "@alice/ci", "--name", "x", "--json").Fails("not_found", "token")
	w.Run(bot.Command, "create", "@alice/ci").Done().Prints("Created the bot @alice/ci\n  origin       " + w.Origin)
	w.Run(bot.Command, "create", "@alice/ci").Done().Prints("exists already")
	w.Unprinted("the bot exists", bot.Command, "create", "@alice/ci")
	w.Run(bot.Command, "list", "--json").Done().Prints(`"botRefId":"@alice/ci"`)
	v := w.Run(bot.Command, "token", "@alice/ci", "--name", "x", "--json").Done().JSON()
	if token, _ := v["token"].(string); v["type"] != "botToken" || !pat.Valid(token) {
		t.Errorf("%v", v)
	}
	w.Run(bot.Command, "create", "@bob/ci", "--json").Fails("not_permitted", "create")
	for _, args := range [][]string{{"create"}, {"create", "ci"}, {"token", "@alice/ci"}, {"token", "x", "--name", "n"}, {"token", "@alice/ci", "--name", "x", "--expires", "soon"}} {
		w.Run(bot.Command, args...).Exits(2)
	}
}

func TestBotToken_ListAndRevoke(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(bot.Command, "create", "@alice/ci").Done()
	w.Run(bot.Command, "token", "list", "@alice/ci").Done().Prints("@alice/ci has no valid tokens")
	id, _ := w.Run(bot.Command, "token", "@alice/ci", "--name", "pipeline", "--json").Done().JSON()["id"].(string)
	w.Run(bot.Command, "token", "list", "@alice/ci").Done().Prints(id, "pipeline", "write:config", "until ", "never used")
	w.Run(bot.Command, "token", "revoke", "@alice/ci", id).Done().Prints("Revoked " + id + " (pipeline of @alice/ci)")
	w.Run(bot.Command, "token", "list", "@alice/ci").Done().Prints("@alice/ci has no valid tokens")

	f := w.Run(bot.Command, "token", "revoke", "@alice/ci", id, "0123456789ab", "--json").Fails("not_found", "revoke")
	if hint, _ := f["hint"].(string); !strings.Contains(hint, "revoked before this failure: "+id) {
		t.Errorf("%v", f)
	}
	w.Run(bot.Command, "token", "list", "@alice/none", "--json").Fails("not_found", "list")
	for _, args := range [][]string{{"token", "list"}, {"token", "revoke"}, {"token", "revoke", "@alice/ci"}, {"token", "revoke", "@alice/ci", "x"}, {"token", "revoke", "ci", id}} {
		w.Run(bot.Command, args...).Exits(2)
	}
}

func TestBotRm_AsksForTheWholeName(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(bot.Command, "create", "@alice/ci").Done()
	w.Run(bot.Command, "token", "@alice/ci", "--name", "pipeline").Done()
	w.UI.Answers = []string{"", "@alice/ci"}
	w.Run(bot.Command, "rm", "@alice/ci").Done().Prints("Aborted")
	w.Run(bot.Command, "rm", "@alice/ci").Done().Prints("Deleted the bot @alice/ci; revoked tokens: 1")
	w.Run(bot.Command, "rm", "@alice/ci", "--force").Done().Prints("was gone already")
	w.Run(bot.Command, "rm", "@bob/ci", "--force", "--json").Fails("not_permitted", "rm")
	w.Run(bot.Command, "rm", "ci").Exits(2)
}
