package main

import (
	"testing"

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
		if got := a.line(cmdline.Hub("account", "list")).String(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
