package workspace_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient/flat"
)

const (
	randomFiles  = 300
	editsPerFile = 5
)

func TestReplace_KeepsStyleOfFile(t *testing.T) {
	for seed := range uint64(randomFiles) {
		r := rand.New(rand.NewPCG(seed, 1))
		style := randomLayout(r)
		file := randomFile(r)
		for range editsPerFile {
			settings := changedSettings(r, settingsOf(file))
			config := fold(t, layout{}.text(settings))
			text := style.file(file)
			result, err := workspace.SetConfig([]byte(text), config)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			next := editedFile(file, settings)
			if want := style.file(next); string(result) != want {
				t.Fatalf("seed %d, %v: (-want +got)\n%s\nfrom\n%s", seed, style, cmp.Diff(want, string(result)), text)
			}
			wantMeaning(t, seed, result, config)
			file = next
		}
	}
}

// editedFile is the tree that Replace should leave.
func editedFile(file, settings object) object {
	var next object
	hasEnrichments := file.find("enrichments") >= 0
	for _, m := range file {
		switch m.name {
		case "settings":
			wanted := object{}
			for _, s := range settings {
				if s.name != "enrichments" || !hasEnrichments {
					wanted = append(wanted, s)
				}
			}
			next = append(next, member{m.name, merged(m.value, wanted)})
		case "enrichments":
			if i := settings.find("enrichments"); i >= 0 {
				next = append(next, member{m.name, merged(m.value, settings[i].value)})
			}
		default:
			next = append(next, m)
		}
	}
	return next
}

func TestReplace_ChangesOnlyDifferingLines(t *testing.T) {
	kept := 0
	for seed := range uint64(randomFiles) {
		r := rand.New(rand.NewPCG(seed, 2))
		style := randomLayout(r)
		style.noise = r
		file := randomFile(r)
		text := style.file(file)
		for range editsPerFile {
			settings := changedSettings(r, settingsOf(file))
			config := fold(t, layout{}.text(settings))
			result, err := workspace.SetConfig([]byte(text), config)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			wantMeaning(t, seed, result, config)
			want, err := jsonedit.Parse([]byte(layout{}.text(editedFile(file, settings))))
			if err != nil {
				t.Fatal(err)
			}
			lines := untouchedLines(t, text, want)
			kept += len(lines)
			if missing, ok := subsequence(lines, splitLines(string(result))); !ok {
				t.Fatalf("seed %d, %v: the line %q changed in\n%s\nwhich is now\n%s", seed, style, missing, text, result)
			}
		}
	}
	if kept < 10*randomFiles {
		t.Errorf("only %d lines had to stay in all: the files are too simple", kept)
	}
}

func wantMeaning(t *testing.T, seed uint64, text []byte, config flat.Config) {
	t.Helper()
	c, err := workspace.ParseClient(text)
	if err != nil {
		t.Fatalf("seed %d: %v in\n%s", seed, err, text)
	}
	got, err := c.Config()
	if err != nil || !bytes.Equal(got.Canonical(), config.Canonical()) {
		t.Fatalf("seed %d: (-want +got), %v\n%s", seed, err, cmp.Diff(string(config.Canonical()), string(got.Canonical())))
	}
}

// untouchedLines lists the lines of text, blank ones aside, that hold nothing of
// what an edit to want has to change.
func untouchedLines(t *testing.T, text string, want *jsonedit.Document) []string {
	t.Helper()
	d, err := jsonedit.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	touched := make([]bool, strings.Count(text, "\n")+1)
	touch := func(start, end int) {
		for line := strings.Count(text[:start], "\n"); line <= strings.Count(text[:end], "\n"); line++ {
			touched[line] = true
		}
	}
	root := strings.Index(text, "{")
	touchObject(text, root, d.Members, want.Members, touch)
	var lines []string
	for i, line := range splitLines(text) {
		if !touched[i] && strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func touchObject(text string, start int, have, want []jsonedit.Member, touch func(start, end int)) {
	if len(have) == 0 || len(want) == 0 {
		if len(have) != len(want) { // filled, or emptied: all between the braces
			touch(start, closing(text, start, have))
		}
		return
	}
	wanted := map[string]jsonedit.Value{}
	for _, w := range want {
		wanted[w.Name] = w.Value
	}
	lastKept, same := -1, 0
	for i, m := range have {
		w, ok := wanted[m.Name]
		if !ok {
			// A member goes with the comma that ends it, which may stand in a later line.
			touch(m.Offset, comma(text, end(m.Value)))
			continue
		}
		lastKept = i
		same++
		touchValue(text, m.Value, w, touch)
	}
	if added := len(want) > same; added || lastKept < len(have)-1 {
		last := end(have[len(have)-1].Value)
		if added && lastKept < len(have)-1 {
			touch(have[lastKept+1].Offset, last)
		} else {
			touch(end(have[lastKept].Value), last)
		}
	}
}

func touchValue(text string, have, want jsonedit.Value, touch func(start, end int)) {
	if have.Text.Kind() == '{' && want.Text.Kind() == '{' {
		touchObject(text, have.Offset, have.Members, want.Members, touch)
		return
	}
	a, b := have.Text.Clone(), want.Text.Clone()
	if a.Compact() != nil || b.Compact() != nil || !bytes.Equal(a, b) {
		touch(have.Offset, end(have))
	}
}

func end(v jsonedit.Value) int { return v.Offset + len(v.Text) }

// comma returns the offset of the comma that follows, or offset when none does.
func comma(text string, offset int) int {
	rest := strings.TrimLeft(text[offset:], " \t\r\n")
	if strings.HasPrefix(rest, ",") {
		return len(text) - len(rest)
	}
	return offset
}

// closing returns the offset of the brace that closes the object at start.
func closing(text string, start int, members []jsonedit.Member) int {
	from := start + 1
	if n := len(members); n > 0 {
		from = end(members[n-1].Value)
	}
	return from + strings.Index(text[from:], "}")
}

func splitLines(text string) []string { return strings.Split(text, "\n") }

// subsequence reports whether lines stand in all, in their order, or the first that does not.
func subsequence(lines, all []string) (missing string, ok bool) {
	for _, line := range lines {
		for {
			if len(all) == 0 {
				return line, false
			}
			first := all[0]
			all = all[1:]
			if first == line {
				break
			}
		}
	}
	return "", true
}

func FuzzSetConfig(f *testing.F) {
	f.Add([]byte("{\n  \"settings\": {\"a\": [1]},\n  \"enrichments\": []\n}\n"),
		[]byte(`{"a":{"b":1},"enrichments":[{}]}`))
	f.Add([]byte("\ufeff{\r\n\t\"x\":1\r\n}"), []byte(`{"":{"":{}}}`))
	f.Add([]byte(`{"settings":{"enrichments":{}}}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, text, settings []byte) {
		config, err := flat.Fold(settings)
		if err != nil {
			return
		}
		if _, err := workspace.ParseClient(text); err != nil {
			return
		}
		result, err := workspace.SetConfig(text, config)
		if err != nil {
			t.Fatalf("%q with %q: %v", text, settings, err)
		}
		c, err := workspace.ParseClient(result)
		if err != nil {
			if _, refused := workspace.ParseClient([]byte(`{"settings":` + string(config.Unfold()) + `}`)); refused == nil {
				t.Fatalf("%q with %q is %q: %v", text, settings, result, err)
			}
			return
		}
		got, err := c.Config()
		if err != nil || !bytes.Equal(got.Canonical(), config.Canonical()) {
			t.Fatalf("%q with %q is %q: %s, %v", text, settings, result, got.Canonical(), err)
		}
		if again, err := workspace.SetConfig(result, config); err != nil || !bytes.Equal(again, result) {
			t.Fatalf("%q edited twice is %q, then %q, %v", text, result, again, err)
		}
	})
}
