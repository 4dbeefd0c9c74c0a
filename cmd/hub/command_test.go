package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"example.com/projecthub/cmd/internal/cmdline"
)

// What is printed to be pasted works on the database of the command that failed, or on none.
func TestLine_NamesTheDatabase(t *testing.T) {
	const postgres, open = "postgres://hub:secret@db.example.com/hub", "postgres://hub@db.example.com/hub"
	for _, c := range []struct{ db, environment, want string }{
		{db: defaultDB, want: "hub account list"},
		{db: "sqlite:/var/lib/hub.db", want: "hub account list --db sqlite:/var/lib/hub.db"},
		{db: open, want: "hub account list --db " + open},
		{db: open + "?sslpassword=secret", want: "hub account list --db 'postgres://…'"},
		{db: "postgres://hub:50%@db.example.com/hub", want: "hub account list --db 'postgres://…'"},
		{db: postgres, want: "hub account list --db 'postgres://…'"},
		{db: postgres, environment: "postgres://other.example.com/hub", want: "hub account list --db 'postgres://…'"},
		{db: postgres, environment: postgres, want: "hub account list"},
	} {
		a := &app{db: c.db, getenv: func(string) string { return c.environment }}
		if got := a.line(cmdline.Hub("account", "list")); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestServe_HelpNamesTheVariableOfEachFlag(t *testing.T) {
	serve, _, err := (&app{out: io.Discard, err: io.Discard}).root().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	serve.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if name := cmdline.Variable("HUB_", f.Name); !strings.Contains(f.Usage, name) {
			t.Errorf("the help of --%s does not name %s: %s", f.Name, name, f.Usage)
		}
	})
}
