package tui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
)

var someFiles = flat.Difference{
	{Key: "src/new.css", To: "p {}\nq {}\n"},
	{Key: "src/index.html", From: "a\nb\nc\n", To: "a\nB\nc\nd\n"},
	{Key: "logo.png", From: "(binary, 1 KiB)", To: "(binary, 2 KiB)"},
	{Key: "src/old.v1.css", From: "(empty)"},
}

func TestRows_CompareTextsLineByLine(t *testing.T) {
	th := NewTheme(&bytes.Buffer{})
	rows := Rows(someFiles, true)
	draw := func(open bool) (drawn []string) {
		for i := range rows {
			for _, line := range rows[i].Lines(60, open) {
				drawn = append(drawn, line.Paint(th, ""))
			}
		}
		return drawn
	}
	want := []string{
		"~ logo.png: (binary, 1 KiB) → (binary, 2 KiB)",
		"~ src/index.html: lines: 1 added, 1 changed",
		"+ src/new.css: lines: 2 added",
		"- src/old.v1.css: (empty)",
	}
	if diff := cmp.Diff(want, draw(false)); diff != "" {
		t.Error(diff)
	}
	all := strings.Join(draw(true), "\n")
	for _, text := range []string{"~ [2] from b\n", "to   B\n", "+ [4] d\n", "+ [1] p {}\n"} {
		if !strings.Contains(all, text) {
			t.Errorf("no %q in\n%s", text, all)
		}
	}
}

func TestSentences_ListLinesOfFiles(t *testing.T) {
	want := []string{
		"logo.png changed: (binary, 1 KiB) to (binary, 2 KiB)",
		"src/index.html changed, lines: 1 added, 1 changed.",
		"   line 2 changed: b to B",
		"   line 4 added: d",
		"src/new.css added, lines: 2 added.",
		"   line 1 added: p {}",
		"   line 2 added: q {}",
		"src/old.v1.css removed: (empty)",
	}
	if diff := cmp.Diff(want, Sentences(Rows(someFiles, true), 0)); diff != "" {
		t.Error(diff)
	}
}

// What a terminal acts on takes more columns than bytes: it is listed whole all the same.
func TestSentences_AreWholeOnDemand(t *testing.T) {
	d := flat.Difference{{Key: "a", From: strings.Repeat("\x01", 9)}}
	want := []string{"a removed: " + strings.Repeat(`\x01`, 9)}
	if diff := cmp.Diff(want, Sentences(Rows(d, false), 0)); diff != "" {
		t.Error(diff)
	}
}

func TestRows_ListEnrichmentsByRecord(t *testing.T) {
	fold := func(settings string) flat.Config {
		c, err := flat.Fold([]byte(settings))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	was := fold(`{"enrichments": [{"target": "Pet.name", "placeholder": "Polly"}], "title": "Pets"}`)
	is := fold(`{"enrichments": [{"target": "Pet.name", "placeholder": "Rex"}, {"target": "Pet.age"}], "title": "Cats"}`)
	rows := Section("Edits of others", Rows(flat.Diff(was, is), false), map[string]string{"enrichments": "bob"})
	var drawn []string
	for i := range rows {
		for _, line := range rows[i].Lines(76, false) {
			drawn = append(drawn, strings.TrimSpace(line.Paint(NewTheme(&bytes.Buffer{}), "")))
		}
	}
	want := []string{
		"Edits of others  1 added, 2 changed", "enrichments  1 added, 1 changed", `+ [Pet.age]: {"target":"Pet.age"}  bob`,
		`~ [Pet.name].placeholder: "Polly" → "Rex"  bob`, `~ title: "Pets" → "Cats"`,
	}
	if diff := cmp.Diff(want, drawn); diff != "" {
		t.Error(diff)
	}
}

func TestValues_ShowNoCredential(t *testing.T) {
	token := "ghp" + "_" + strings.Repeat("aB3", 12)
	from, to := Values(`"a `+token+` b"`, `"`+token+`"`, 200)
	if from != `"a ghp_… b"` || to != `"ghp_…"` {
		t.Errorf("%s, %s", from, to)
	}
}
