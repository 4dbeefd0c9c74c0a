package admin_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/admin"
)

func TestMember_ListAndSet(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.NewOrg("acme")
	w.NewMember("acme", "nora", "reader")
	w.Run(admin.Member, "list", "@acme").Done().Prints("alice  admin\nnora   reader\n")
	w.Run(admin.Member, "set", "acme", "nora", "--role", "writer").Done().Prints("nora is writer of acme")
	v := w.Run(admin.Member, "set", "acme", "@nora", "--role", "admin", "--json").Done().JSON()
	if v["type"] != "member" || v["account"] != "acme" || v["user"] != "nora" || v["role"] != "admin" {
		t.Errorf("%v", v)
	}
	w.Run(admin.Member, "list", "acme", "--json").Done().Prints(
		`"members":[{"user":"alice","role":"admin"},{"user":"nora","role":"admin"}]`)
	w.Run(admin.Member, "set", "acme", "bob", "--role", "reader").Exits(1).Prints("there is no member bob of acme",
		"tool member invite acme --role reader", "member list acme")
	w.Run(admin.Member, "list", "alice", "--json").Fails("invalid_body", "list")
	w.Run(admin.Member, "list", "none", "--json").Fails("not_permitted", "list")
	for _, args := range [][]string{{"list"}, {"list", "ACME"}, {"set", "acme", "nora"},
		{"set", "acme", "nora", "--role", "owner"}, {"set", "acme", "N", "--role", "reader"}, {"set", "acme"}} {
		w.Run(admin.Member, args...).Exits(2)
	}
}

func TestMemberRemove_AsksInATerminal(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.NewOrg("acme")
	w.NewMember("acme", "nora", "reader")
	w.UI.Answers = []string{"no", "yes"}
	w.Run(admin.Member, "remove", "acme", "nora").Done().Prints("Aborted")
	w.Run(admin.Member, "remove", "acme", "nora").Done().Prints("Removed nora from acme")
	w.Run(admin.Member, "remove", "acme", "nora", "--force").Done().Prints("nora was not a member of acme")
	w.Unprinted("the user is no member", admin.Member, "remove", "acme", "nora", "--force")
	w.Run(admin.Member, "remove", "acme", "alice", "--force", "--json").Fails("last_admin", "rm")
	w.Run(admin.Member, "remove", "acme").Exits(2)
}

func TestMemberRemove_OneselfNeedsForceWhereNothingIsAsked(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.NewOrg("acme")
	w.NewMember("acme", "nora", "admin")
	w.NewMember("acme", "bob", "reader")
	w.Run(admin.Member, "remove", "acme", "bob", "--no-input").Done()
	w.Run(admin.Member, "remove", "acme", "alice", "--no-input").Exits(2).Prints("alice is you")
	w.Run(admin.Member, "remove", "acme", "alice", "--no-input", "--force").Done().Prints("Removed alice from acme")
}

func TestInvite(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(admin.Member, "invite", "--role", "writer").Exits(2)
	w.Run(admin.Member, "invite", "acme").Exits(2).Prints("give a role: --role reader, writer or admin")
	w.Run(admin.Member, "invite", "acme", "--role", "owner").Exits(2)
	w.Run(admin.Member, "invite", "ACME", "--role", "reader").Exits(2).Prints("is not an org")
	w.Run(admin.Member, "invite", apptest.User, "--role", "reader").Exits(1).Prints("alice is a user, not an org")
	w.Run(admin.Member, "invite", "acme", "--role", "reader").Exits(1).Prints("alice may not manage acme")
	w.NewOrg("acme")
	v := w.Run(admin.Member, "invite", "acme", "--role", "reader", "--json").Done().JSON()
	w.Run(admin.Member, "invite", "@acme", "--role", "reader").Done().Prints("gives        reader on @acme")
	url, _ := v["url"].(string)
	if v["type"] != "invitation" || v["role"] != "reader" || v["account"] != "acme" ||
		!strings.HasPrefix(url, w.Origin+"/link?code=") {
		t.Errorf("%v", v)
	}
	w.Unprinted("the invitation was created", admin.Member, "invite", "acme", "--role", "admin")
	w.Run(admin.Member, "invite", "acme", "--role", "admin").Done().Prints(w.Origin+"/link?code=",
		"gives        admin on @acme, once, until", "the link is a secret")
}
