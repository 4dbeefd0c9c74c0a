package app_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/term"
)

func TestParseProject_TakesASlugWhoseAccountIsClear(t *testing.T) {
	for name, test := range map[string]struct {
		projects map[string]string // destinations of the local projects
		typed    string
		want     string // "": none is clear
	}{
		"full name":                {nil, "@acme/web", "@acme/web"},
		"local project":            {map[string]string{"web": "@acme/site", "shop": "@alice/shop"}, "web", "@acme/site"},
		"account of all of them":   {map[string]string{"web": "@acme/site"}, "blog", "@acme/blog"},
		"several accounts":         {map[string]string{"web": "@acme/web", "shop": "@alice/shop"}, "blog", ""},
		"no login, no destination": {nil, "blog", ""},
		"no slug":                  {map[string]string{"web": "@acme/web"}, "My blog", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := apptest.New(t)
			for local, destination := range test.projects {
				w.Write(".tool/"+local+"/client.json", `{"project": "`+destination+`", "settings": {}}`)
			}
			lookup := func(name string) (string, bool) { value, ok := w.Env[name]; return value, ok }
			a := app.New(lookup, term.Streams{})
			a.Dir = w.Dir
			got, err := a.ParseProject(test.typed)
			if test.want == "" && err == nil || test.want != "" && got.String() != test.want {
				t.Errorf("%s, %v, want %q", got, err, test.want)
			}
		})
	}
}

// localCommand returns a command that prints the name of its local project.
func localCommand(a *app.App) *cobra.Command {
	return &cobra.Command{Use: "local", RunE: a.Run(func(ctx context.Context, _ []string) error {
		local, err := a.Local(ctx, "", a.Itself)
		if err != nil {
			return err
		}
		out := a.Printer()
		out.Line("it is %s", local.Name)
		return out.Err()
	})}
}

func TestLocal_IsTheOneWhoseAppTheDirectoryIsIn(t *testing.T) {
	w := apptest.New(t)
	w.Strict = true
	for local, base := range map[string]string{"site": "index.html", "shop": "shop/app.yaml", "twin": "both/a",
		"other": "both/b"} {
		w.Write(".tool/"+local+"/client.json", `{"settings": {"basePath": "`+base+`"}}`)
	}
	workspace := w.Dir
	for dir, want := range map[string]string{".": "site", "docs": "site", "shop/src": "shop"} {
		w.Dir = filepath.Join(workspace, dir)
		if err := os.MkdirAll(w.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		w.Run(localCommand).Done().Prints("it is " + want + "\n")
	}
	w.Dir = filepath.Join(workspace, "both")
	if err := os.MkdirAll(w.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Run(localCommand).Exits(2).Prints("there are several local projects: other, shop, site, twin")
}
