package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

func TestAgo(t *testing.T) {
	const day = 24 * time.Hour
	for past, want := range map[time.Duration]string{
		-time.Hour: "just now", 0: "just now", 59 * time.Second: "just now",
		time.Minute: "1 min ago", 59 * time.Minute: "59 min ago",
		time.Hour: "1 h ago", 23 * time.Hour: "23 h ago",
		day: "on " + app.Time(time.Now().Add(-day)), 800 * day: "on " + app.Time(time.Now().Add(-800*day)),
	} {
		if got := app.Ago(time.Now().Add(-past)); got != want {
			t.Errorf("%v: %q, want %q", past, got, want)
		}
	}
}

func TestExpiry(t *testing.T) {
	soon, later := time.Now().Add(23*time.Hour), time.Now().Add(25*time.Hour)
	for want, end := range map[string]*time.Time{
		"never expires": nil, "expires " + app.Time(soon): &soon, "expires " + app.Time(later): &later,
	} {
		if got := app.Expiry(end); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEdit_SaysHowLongAgo(t *testing.T) {
	e := wire.Edit{UpdatedBy: "bob", UpdatedAt: time.Now().Add(-2 * time.Hour), UpdatedVia: wire.ViaPush}
	if got := app.Edit(e); got != "written by bob 2 h ago through push" {
		t.Errorf("%q", got)
	}
}

// What a hub or a repository says takes two screens of 80 columns at most.
func TestPrinter_LongTextsAreShortened(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	edit := wire.ConfigEntry{}
	edit.UpdatedBy = long
	e := &hubclient.Error{Code: wire.CodeInvalidBody, Detail: long, Errors: make([]wire.FieldError, 1000)}
	for name, show := range map[string]func(a *app.App){
		"line":    func(a *app.App) { a.Printer().Line("as %s", long) },
		"notes":   func(a *app.App) { a.Printer().Notes([]string{long}) },
		"warning": func(a *app.App) { a.Warn(long) },
		"edit":    func(a *app.App) { a.Printer().Line("%s", app.Edit(edit.Edit)) },
		"key": func(a *app.App) {
			a.Printer().Whole("%s", app.DifferenceLines(flat.Difference{{Key: long}})[0])
		},
		"errors": func(a *app.App) { a.ReportFailure(e) },
		"findings": func(a *app.App) {
			a.ReportFailure(failure.Failure{Reason: e, Details: failure.Details{Findings: make([]failure.Finding, 1000)}})
		},
		"edits": func(a *app.App) {
			a.ReportFailure(failure.Failure{Reason: e, Details: failure.Details{Edits: []wire.ConfigEntry{edit}}})
		},
	} {
		var out strings.Builder
		show(app.New(func(string) (string, bool) { return "", false }, term.Streams{Out: &out, Err: &out}))
		rows := 0
		for line := range strings.Lines(out.String()) {
			rows += 1 + len(line)/80
		}
		if rows == 0 || rows > 110 {
			t.Errorf("%s: %d rows", name, rows)
		}
	}
}

// The stage, the hint and the next command are said however much the hub says.
func TestReportFailure_LongReasonHidesNothing(t *testing.T) {
	var out strings.Builder
	a := app.New(func(string) (string, bool) { return "", false }, term.Streams{Out: &out, Err: &out})
	long := strings.Repeat("x", 1<<20)
	f := failure.Of(&hubclient.Error{Code: wire.CodeInvalidBody, Detail: long, Hint: long, RequestID: "r1"})
	a.ReportFailure(failure.Doing(f.At("push").Try(cmdline.Tool("log")), "web", "push web"))
	for _, want := range []string{
		"error: push web: xxx", "… (stage push)\n", "\n  hint: xxx", "…\n  try: tool log\n", "  request: r1",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %.200q", want, out.String())
		}
	}
}

// A text is folded in a terminal between its words, and never where a program or a shell reads it.
func TestPrinter_FoldsAtTheTerminalsWidth(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("word ", 15))
	long := strings.Repeat("x", 60)
	print := func(p *app.Printer) {
		p.Line("%s more words", words)
		p.Field("name", "%s; to undo it: tool push %s --undo", words, long)
		p.Differences([]string{`~ title: "` + words + `" → "new"`})
		p.Notes([]string{long + " " + long})
		p.Columns([][]string{{"r1", "alice", long, "message " + words}, {"r2", "bob", "a", "b"}}, nil)
		p.Columns([][]string{{"ペット", "one"}, {"pets", "two"}}, nil)
		p.Line("pulled.json:1: git conflict markers: %s", words)
		p.Line("error: tool %s", words)
		p.Whole("%s more words", words)
	}
	lookup := func(string) (string, bool) { return "", false }
	var out, piped strings.Builder
	print(app.New(lookup, term.Streams{Out: &out, Err: &out, InTTY: true, OutTTY: true}).Printer())
	want := words + ` more
  words
  name         word word word word word word word word word word word word word
               word word; to undo it:
               tool push ` + long + ` --undo
    ~ title: "word word word word word word word word word word word word word
      word word" → "new"
  note: ` + long + `
    ` + long + `
r1  alice  ` + long + `  message
    word word word word word word word word word word word word word word word
r2  bob  a  b
ペット  one
pets    two
pulled.json:1: git conflict markers: word word word word word word word word
  word word word word word word word
error: tool word word word word word word word word word word word word word
  word word
` + words + " more words\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	print(app.New(lookup, term.Streams{Out: &piped, Err: &piped}).Printer())
	if n := strings.Count(piped.String(), "\n"); n != 11 {
		t.Errorf("%d lines in a pipe:\n%s", n, piped.String())
	}
}
