package app_test

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
)

// names is a listing of names.
type names struct{ app.Listing }

func (*names) Kind() string { return "names" }

func TestLists_AreInNaturalOrder(t *testing.T) {
	w := apptest.New(t)
	list := func(a *app.App) *cobra.Command {
		return &cobra.Command{Use: "names", RunE: a.Run(func(context.Context, []string) error {
			r := &names{}
			for _, name := range []string{"@acme/web-10", "@acme/web", "@acme/web-2", "@acme/shop"} {
				r.Row(name, "private")
			}
			return a.Show(r)
		})}
	}
	w.Run(list).Done().Prints(
		"@acme/shop    private\n@acme/web     private\n@acme/web-2   private\n@acme/web-10  private\n")
	for _, local := range []string{"web-10", "web", "web-2"} {
		w.Write(".tool/"+local+"/client.json", `{"settings": {}}`)
	}
	w.Strict = true
	w.Run(localCommand).Exits(2).Prints("there are several local projects: web, web-2, web-10")
}

// digest is a result with a digest.
type digest struct{}

func (*digest) Kind() string        { return "digest" }
func (*digest) Text(w *app.Printer) { w.Detail("digest", "abc") }

func TestDetail_IsShownWithVerbose(t *testing.T) {
	w := apptest.New(t)
	command := func(a *app.App) *cobra.Command {
		return &cobra.Command{Use: "digest", RunE: a.Run(func(context.Context, []string) error { return a.Show(&digest{}) })}
	}
	w.Run(command, "--verbose").Done().Prints("digest       abc\n")
	if r := w.Run(command).Done(); r.Out != "" {
		t.Errorf("%s", r.Out)
	}
}
