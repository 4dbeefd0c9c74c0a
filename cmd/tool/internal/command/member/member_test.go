package member_test

import (
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/member"
)

func TestMember_ListAndSet(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.NewOrg("acme")
	w.NewMember("acme", "nora", "reader")
	w.Run(member.Command, "list", "@acme").Done().Prints("alice  admin\nnora   reader\n")
	w.Run(member.Command, "set", "acme", "nora", "--role", "writer").Done().Prints("nora is writer of acme")
	v := w.Run(member.Command, "set", "acme", "@nora", "--role", "admin", "--json").Done().JSON()
	if v["type"] != "member" || v["account"] != "acme" || v["user"] != "nora" || v["role"] != "admin" {
		t.Errorf("%v", v)
	}
	w.Run(member.Command, "list", "acme", "--json").Done().Prints(`"members":[{"user":"alice","role":"admin"},{"user":"nora","role":"admin"}]`)
	w.Run(member.Command, "set", "acme", "bob", "--role", "reader").Exits(1).Prints("there is no member bob of acme", "tool member invite acme --role reader", "member list acme")
	w.Run(member.Command, "list", "alice", "--json").Fails("invalid_body", "list")
	w.Run(member.Command, "list", "none", "--json").Fails("not_permitted", "list")
	for _, args := range [][]string{{"list"}, {"list", "ACME"}, {"set", "acme", "nora"}, {"set", "acme", "nora", "--role", "owner"}, {"set", "acme", "N", "--role", "reader"}, {"set", "acme"}} {
		w.Run(member.Command, args...).Exits(2)
	}
}

func TestMemberRemove_AsksInATerminal(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.NewOrg("acme")
	w.NewMember("acme", "nora", "reader")
	w.UI.Answers = []string{"no", "yes"}
	w.Run(member.Command, "remove", "acme", "nora").Done().Prints("Aborted")
	w.Run(member.Command, "remove", "acme", "nora").Done().Prints("Removed nora from acme")
	w.Run(member.Command, "remove", "acme", "nora", "--force").Done().Prints("nora was not a member of acme")
	w.Run(member.Command, "remove", "acme", "alice", "--force", "--json").Fails("last_admin", "rm")
	w.Run(member.Command, "remove", "acme").Exits(2)
}

func TestMemberRemove_OneselfNeedsForceWhereNothingIsAsked(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.NewOrg("acme")
	w.NewMember("acme", "nora", "admin")
	w.NewMember("acme", "bob", "reader")
	w.Run(member.Command, "remove", "acme", "bob", "--no-input").Done()
	w.Run(member.Command, "remove", "acme", "alice", "--no-input").Exits(2).Prints("alice is you")
	w.Run(member.Command, "remove", "acme", "alice", "--no-input", "--force").Done().Prints("Removed alice from acme")
}
