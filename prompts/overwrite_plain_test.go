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
	p := prompts.Prompter{Terminal: tui.Terminal{In: strings.NewReader(strings.Join(append(lines, ""), "\n")), Out: &out, Plain: true, Columns: 80, Rows: rows}}
	yes, err = p.Overwrite(context.Background(), q)
	return out.String(), yes, err
}

func TestOverwrite_PlainShowsCountsKeysQuestion(t *testing.T) {
	d := diff(t, `{"theme": {"color": "blue"}, "old": 1, "tags": ["a", "b"]}`, `{"theme": {"color": "red"}, "tags": ["b", "c", "d"], "new": true}`)
	q := question(d)
	q.Notice = "carol changed it while you looked. This is the difference now:"
	said, yes, err := askPlain(q, 24, "perhaps", "list", "yes")
	want := `Overwrite the config of @acme/web?
hub https://hub.example.com
carol changed it while you looked. This is the difference now:
4 differences: 1 added, 2 changed, 1 removed.
1. new added: true
2. old removed: 1
3. tags changed, elements: 2 added, 1 removed.
4. theme.color changed: "blue" to "red"
Overwrite it? yes, no or list (default no): Please answer yes, no or list.
Overwrite it? yes, no or list (default no): 1. new added: true
2. old removed: 1
3. tags changed, elements: 2 added, 1 removed.
   element 0 removed: "a"
   element 1 added: "c"
   element 2 added: "d"
4. theme.color changed: "blue" to "red"
Overwrite it? yes, no or list (default no): `
	if d := cmp.Diff(want, said); d != "" || !yes || err != nil {
		t.Errorf("%v %v %s", yes, err, d)
	}
}

func TestOverwrite_PlainShowsScreenfulAndAllOnDemand(t *testing.T) {
	q := question(many(100))
	q.Difference.Added = append(q.Difference.Added, flat.Entry{Key: "long", Text: `"` + strings.Repeat("x", 200) + `"`})
	said, yes, err := askPlain(q, 24, "")
	if n := strings.Count(said, "\n"); n != 23 || !strings.Contains(said, "\nand 82 more; answer list to read all.\n") || yes || err != nil {
		t.Errorf("%d lines, %v %v:\n%s", n, yes, err, said)
	}
	said, _, _ = askPlain(q, 24, "list", "")
	for i := range 100 {
		if !strings.Contains(said, fmt.Sprintf("%d. group-%03d.key-%05d ", i+1, i/20, i)) {
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
		p := prompts.Prompter{Terminal: tui.Terminal{In: in, Out: io.Discard, Plain: plain, Columns: 80, Rows: 24}}
		if yes, err := p.Overwrite(ctx, q); yes || !errors.Is(err, context.Canceled) {
			t.Errorf("plain %v: %v %v", plain, yes, err)
		}
	}
}

func TestOverwrite_PlainBreaksLinesBetweenWords(t *testing.T) {
	var out strings.Builder
	p := prompts.Prompter{Terminal: tui.Terminal{In: strings.NewReader("\n"), Out: &out, Plain: true, Columns: 40, Rows: 15}}
	q := question(flat.Difference{Changed: []flat.Change{{Key: "theme.colour", From: `"teal"`, To: `"green"`}}})
	if _, err := p.Overwrite(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "1. theme.colour changed: \"teal\" to\n\"green\"\n") || !strings.HasSuffix(out.String(), "(default\nno): ") {
		t.Errorf("lines are broken within words:\n%s", out.String())
	}
}
