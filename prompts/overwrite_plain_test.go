package prompts_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// askPlain asks q in a plain terminal and returns what was said.
func askPlain(q prompts.Overwrite, rows int, lines ...string) (said string, yes bool, err error) {
	var out strings.Builder
	p := prompts.On(tui.Terminal{In: strings.NewReader(strings.Join(append(lines, ""), "\n")), Out: &out, Plain: true,
		Columns: 80, Rows: rows})
	yes, err = p.Overwrite(context.Background(), q)
	return out.String(), yes, err
}

func TestOverwrite_PlainShowsCountsKeysQuestion(t *testing.T) {
	d := diff(t, `{"theme": {"color": "blue"}, "old": 1, "tags": ["a", "b"]}`,
		`{"theme": {"color": "red"}, "tags": ["b", "c", "d"], "new": true}`)
	q := question(d)
	q.Notice = "carol changed it while you looked. This is the difference now:"
	said, yes, err := askPlain(q, 24, "perhaps", "list", "yes")
	want := `
Overwrite the config of @acme/web?
hub https://hub.example.com
carol changed it while you looked. This is the difference now:
1 added, 2 changed, 1 removed.
new added: true
old removed: 1
tags changed, elements: 2 added, 1 removed.
theme.color changed: "blue" to "red"
1. Overwrite it
2. Cancel
3. List all
Choose 1 to 3 (default 2): Invalid answer: type a number from 1 to 3.
Choose 1 to 3 (default 2): new added: true
old removed: 1
tags changed, elements: 2 added, 1 removed.
   element 0 removed: "a"
   element 1 added: "c"
   element 2 added: "d"
theme.color changed: "blue" to "red"

Overwrite the config of @acme/web?
1. Overwrite it
2. Cancel
3. List all
Choose 1 to 3 (default 2): `
	if d := cmp.Diff(want, said); d != "" || !yes || err != nil {
		t.Errorf("%v %v %s", yes, err, d)
	}
}

func TestOverwrite_PlainShowsScreenfulAndAllOnDemand(t *testing.T) {
	q := question(many(100))
	q.Difference = append(q.Difference, flat.Change{Key: "long", To: `"` + strings.Repeat("x", 200) + `"`})
	said, yes, err := askPlain(q, 24, "")
	const end = "\nand 89 more.\n1. Overwrite it\n2. Cancel\n3. List all\n"
	if n := strings.Count(said, "\n"); n > 23 || !strings.Contains(said, end) || yes || err != nil {
		t.Errorf("%d lines, %v %v:\n%s", n, yes, err, said)
	}
	said, _, _ = askPlain(q, 24, "3", "")
	_, said, _ = strings.Cut(said, "(default 2): ")
	said = "\n" + said
	for i := range 100 {
		if !strings.Contains(said, fmt.Sprintf("\ngroup-%03d.key-%05d ", i/20, i)) {
			t.Fatalf("key %d is missing:\n%s", i, said)
		}
	}
	if !strings.Contains(said, strings.Repeat("x", 200)) || strings.Contains(said, "\x1b") {
		t.Errorf("not all of it:\n%s", said)
	}
}

func TestOverwrite_PlainEndOfInputIsNo(t *testing.T) {
	q := question(many(3))
	for _, lines := range [][]string{nil, {"list"}, {"perhaps"}} {
		if _, yes, err := askPlain(q, 24, lines...); yes || !errors.Is(err, tui.ErrInterrupted) {
			t.Errorf("%v: %v %v", lines, yes, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in, _ := io.Pipe()
	for _, plain := range []bool{true, false} {
		p := prompts.On(tui.Terminal{In: in, Out: io.Discard, Plain: plain, Columns: 80, Rows: 24})
		if yes, err := p.Overwrite(ctx, q); yes || !errors.Is(err, context.Canceled) {
			t.Errorf("plain %v: %v %v", plain, yes, err)
		}
	}
}

func TestOverwrite_PlainBreaksLinesBetweenWords(t *testing.T) {
	var out strings.Builder
	p := prompts.On(tui.Terminal{In: strings.NewReader("\n"), Out: &out, Plain: true, Columns: 40, Rows: 15})
	q := question(flat.Difference{{Key: "theme.colour", From: `"emerald"`, To: `"green"`}})
	if _, err := p.Overwrite(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "theme.colour changed: \"emerald\" to\n\"green\"\n") {
		t.Errorf("lines are broken within words:\n%s", out.String())
	}
}

func TestOverwrite_PlainNamesWhoseEditsAreUndone(t *testing.T) {
	q := question(diff(t, `{"a": 1}`, `{"a": 2}`))
	q.Undone = diff(t, `{"color": "red"}`, `{}`)
	q.Notes = map[string]string{"color": "bob, 3 h ago"}
	said, _, err := askPlain(q, 24, "m")
	if !strings.Contains(said,
		"Edits undone: 1 removed.\ncolor removed: \"red\" (bob, 3 h ago)\nYour changes: 1 changed.\na changed: 1 to 2\n1. Overwrite it\n2. Merge\n3. Cancel\n") {
		t.Error(said)
	}
	if !errors.Is(err, prompts.ErrMerge) {
		t.Error(err)
	}
	q = question(diff(t, `{"a": 1}`, `{"a": 2}`))
	q.Harmless = true
	if said, yes, err := askPlain(q, 24, ""); !yes || err != nil {
		t.Errorf("enter is no yes: %v %s", err, said)
	}
}
