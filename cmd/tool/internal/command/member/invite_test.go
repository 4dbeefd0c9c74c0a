package member_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/member"
)

func TestInvite(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(member.Command, "invite", "--role", "writer").Exits(2)
	w.Run(member.Command, "invite", "acme").Exits(2).Prints("give a role: --role reader, writer or admin")
	w.Run(member.Command, "invite", "acme", "--role", "owner").Exits(2)
	w.Run(member.Command, "invite", "ACME", "--role", "reader").Exits(2).Prints("is not an org")
	w.Run(member.Command, "invite", apptest.User, "--role", "reader").Exits(1).Prints("alice is a user, not an org")
	w.Run(member.Command, "invite", "acme", "--role", "reader").Exits(1).Prints("alice may not manage acme")
	w.NewOrg("acme")
	v := w.Run(member.Command, "invite", "acme", "--role", "reader", "--json").Done().JSON()
	url, _ := v["url"].(string)
	if v["type"] != "invitation" || v["role"] != "reader" || v["account"] != "acme" ||
		!strings.HasPrefix(url, w.Origin+"/link?code=") {
		t.Errorf("%v", v)
	}
	w.Unprinted("the invitation was created", member.Command, "invite", "acme", "--role", "admin")
	w.Run(member.Command, "invite", "acme", "--role", "admin").Done().Prints(w.Origin+"/link?code=",
		"gives        admin on @acme, once, until", "the link is a secret")
}
