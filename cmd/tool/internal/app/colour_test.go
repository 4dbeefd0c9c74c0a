package app_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/diff"
	"example.com/projecthub/cmd/tool/internal/command/history"
	"example.com/projecthub/cmd/tool/internal/command/status"
)

func TestColour_IsOfATerminalUnlessForced(t *testing.T) {
	const escape = "\x1b["
	t.Setenv("CLICOLOR_FORCE", "1") // for stdout is a buffer here
	w := apptest.New(t)
	w.Project(`{"title": "hub"}`)
	w.Local("@alice/web", `{"new": true}`)
	w.Watched = true
	w.Run(diff.Command, "web").Done().Prints(
		"\x1b[1mweb differs from @alice/web\x1b[0m\n", "\x1b[32m    + new: true\x1b[0m\n",
		"\x1b[31m    - title: \"hub\"\x1b[0m\n")
	w.Run(diff.Command, "shop").Exits(1).Prints("\x1b[31merror\x1b[0m: ")
	w.Run(status.Command, "web").Done().Prints("\x1b[1mweb\x1b[0m\n",
		"\x1b[2m  config      \x1b[0m \x1b[33mdiffers\x1b[0m\n")
	w.Run(history.LogCommand, "web").Done().Prints("\x1b[32m+1\x1b[0m \x1b[2m~0\x1b[0m \x1b[2m-0\x1b[0m  + title\n")
	w.Strict, w.Watched = true, false // in a pipe
	w.Env["CLICOLOR_FORCE"] = "1"
	w.Run(diff.Command, "web").Done().Prints("\x1b[32m    + new: true\x1b[0m\n")
	w.Run(diff.Command, "shop").Exits(1).Prints("\x1b[31merror\x1b[0m: ")
	for name, env := range map[string]struct {
		force, none string
		strict      bool
	}{
		"NO_COLOR":           {"1", "1", false},
		"NO_COLOR in a pipe": {"1", "1", true},
		"pipe":               {"", "", true},
		"pipe, 0":            {"0", "", true},
	} {
		t.Setenv("NO_COLOR", env.none)
		w.Env["CLICOLOR_FORCE"], w.Strict, w.Watched = env.force, env.strict, !env.strict
		for _, command := range []func(*app.App) *cobra.Command{diff.Command, status.Command, history.LogCommand} {
			if r := w.Run(command, "web").Done(); strings.Contains(r.Out+r.Err, escape) {
				t.Errorf("%s: %q", name, r.Out)
			}
		}
	}
}
