//go:build unix

package app_test

import (
	"os"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/check"
)

func TestWorkspace_WarnsRootThatItBelongsToAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can change owners")
	}
	const warning = "belongs to another user (id 65534)"
	w := apptest.New(t)
	w.Local("", `{}`)
	if r := w.Run(check.Command).Done(); strings.Contains(r.Err, warning) {
		t.Errorf("in a workspace of root: %s", r.Err)
	}
	if err := os.Chown(w.Dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if r := w.Run(check.Command).Done(); strings.Count(r.Err, "warning: ") != 1 || !strings.Contains(r.Err, warning) {
		t.Errorf("of another user: %s", r.Err)
	}
	w.Env["SUDO_UID"] = "65534"
	if r := w.Run(check.Command).Done(); strings.Contains(r.Err, warning) {
		t.Errorf("in a workspace of the user who called sudo: %s", r.Err)
	}
}
