package app_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/diff"
)

func TestColour_IsOfATerminalAlone(t *testing.T) {
	const escape = "\x1b["
	t.Setenv("CLICOLOR_FORCE", "1") // for stdout is a buffer here
	w := apptest.New(t)
	w.Project(`{"title": "hub"}`)
	w.Local("@alice/web", `{"new": true}`)
	w.Watched = true
	w.Run(diff.Command, "web").Done().Prints(
		"\x1b[1mweb differs from @alice/web\x1b[0m\n", "\x1b[32m    + new: true\x1b[0m\n", "\x1b[31m    - title: \"hub\"\x1b[0m\n")
	w.Run(diff.Command, "shop").Exits(1).Prints("\x1b[1;31merror\x1b[0m: ")
	for name, set := range map[string]func(){
		"NO_COLOR":      func() { t.Setenv("NO_COLOR", "1") },
		"in a pipeline": func() { t.Setenv("NO_COLOR", ""); w.Strict, w.Watched = true, false },
	} {
		set()
		if r := w.Run(diff.Command, "web").Done(); strings.Contains(r.Out+r.Err, escape) {
			t.Errorf("%s: %q", name, r.Out)
		}
	}
}
