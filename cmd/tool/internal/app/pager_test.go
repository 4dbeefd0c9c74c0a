package app_test

import (
	"os/exec"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/term"
)

// lines is a result of so many lines.
type lines struct {
	N int `json:"n"`
}

func (lines) Kind() string { return "lines" }
func (lines) Paged()       {}
func (n lines) Text(w *app.Printer) {
	for range n.N {
		w.Line("one\x1b[2J")
	}
}

func TestShow_UsesAPager(t *testing.T) {
	if _, err := exec.LookPath("sed"); err != nil {
		t.Skip("needs sed")
	}
	const long = 24 // lines; the prompt is the 25th of 24 rows
	for name, c := range map[string]struct {
		n     int
		env   map[string]string
		set   func(*app.App)
		paged bool
	}{
		"long":             {long, map[string]string{"PAGER": "sed s/o/0/"}, nil, true},
		"quotes":           {long, map[string]string{"PAGER": "LANG=C sed -e \"s/o/0/\" -e 's/x y/z/'"}, nil, true},
		"fits":             {long - 1, map[string]string{"PAGER": "sed s/o/0/"}, nil, false},
		"TOOL_PAGER first": {long, map[string]string{"TOOL_PAGER": "sed s/o/0/", "PAGER": "cat"}, nil, true},
		"empty":            {long, map[string]string{"PAGER": ""}, nil, false},
		"cat":              {long, map[string]string{"TOOL_PAGER": "cat", "PAGER": "sed s/o/0/"}, nil, false},
		"dumb terminal":    {long, map[string]string{"PAGER": "sed s/o/0/", "TERM": "dumb"}, nil, false},
		"in CI":            {long, map[string]string{"PAGER": "sed s/o/0/", "CI": "true"}, nil, false},
		"--no-input":       {long, map[string]string{"PAGER": "sed s/o/0/"}, func(a *app.App) { a.NoInput = true }, false},
		"in a pipe": {
			long, map[string]string{"PAGER": "sed s/o/0/"},
			func(a *app.App) { a.Streams.OutTTY = false }, false,
		},
		"--json": {
			long, map[string]string{"PAGER": "sed s/o/0/"},
			func(a *app.App) { a.JSON = true }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out, screen, errs strings.Builder
			lookup := func(name string) (string, bool) { value, set := c.env[name]; return value, set }
			a := app.New(lookup, term.Streams{Out: &out, Err: &errs, InTTY: true, OutTTY: true, Screen: &screen})
			if c.set != nil {
				c.set(a)
			}
			if err := a.Show(lines{c.n}); err != nil || errs.Len() > 0 {
				t.Fatal(err, errs.String())
			}
			paged := strings.Repeat("0ne\\x1b[2J\n", c.n)
			if got := screen.String(); c.paged != (got == paged) || c.paged != (out.Len() == 0) {
				t.Errorf("screen %q, stdout %q", got, out.String())
			}
		})
	}
}

func TestShow_WithoutThePagerPrintsTheText(t *testing.T) {
	var out, errs strings.Builder
	lookup := func(name string) (string, bool) {
		return map[string]string{"PAGER": "no-such-pager -x"}[name], name == "PAGER"
	}
	a := app.New(lookup, term.Streams{Out: &out, Err: &errs, InTTY: true, OutTTY: true, Screen: &out})
	if err := a.Show(lines{30}); err != nil || strings.Count(out.String(), "one") != 30 ||
		!strings.Contains(errs.String(), "warning: cannot start the pager no-such-pager -x: ") {
		t.Errorf("%v %s%s", err, errs.String(), out.String())
	}
}
