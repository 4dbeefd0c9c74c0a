package flat_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// vectors is testdata/vectors.json, from which any other implementation can be tested too.
type vectors struct {
	Settings        []accepted // texts to fold
	Configs         []accepted // texts to parse
	RefusedSettings []refused
	RefusedConfigs  []refused
}

type accepted struct {
	Name      string
	Text      string
	Canonical string // the flat config
	Unfolded  string // the settings, in canonical form
	Revision  string
}

type refused struct {
	Name    string
	Text    string
	Error   string // syntax: no JSON; shape: JSON, but not what is needed
	Pointer string // to the offending member, for shape
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFold_MatchesVectors(t *testing.T) {
	v := readVectors(t)
	checkAccepted(t, "settings", flat.Fold, v.Settings)
	checkAccepted(t, "configs", flat.Parse, v.Configs)
}

func checkAccepted(t *testing.T, group string, read func([]byte) (flat.Config, error), vectors []accepted) {
	t.Helper()
	for _, v := range vectors {
		t.Run(group+"/"+v.Name, func(t *testing.T) {
			c, err := read([]byte(v.Text))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(c.Canonical()); got != v.Canonical {
				t.Errorf("canonical form\n got %s\nwant %s", got, v.Canonical)
			}
			if got := string(c.Unfold()); got != v.Unfolded {
				t.Errorf("unfolded\n got %s\nwant %s", got, v.Unfolded)
			}
			if got := c.Revision(); got != v.Revision {
				t.Errorf("revision %s, want %s", got, v.Revision)
			}
		})
	}
}

func TestFold_RejectsInvalidVectors(t *testing.T) {
	v := readVectors(t)
	checkRefused(t, "settings", flat.Fold, v.RefusedSettings)
	checkRefused(t, "configs", flat.Parse, v.RefusedConfigs)
}

func checkRefused(t *testing.T, group string, read func([]byte) (flat.Config, error), vectors []refused) {
	t.Helper()
	for _, v := range vectors {
		t.Run(group+"/"+v.Name, func(t *testing.T) {
			c, err := read([]byte(v.Text))
			if kind, pointer := classify(err); kind != v.Error || pointer != v.Pointer {
				t.Errorf("error %v: %q at %q, want %q at %q", err, kind, pointer, v.Error, v.Pointer)
			}
			if c.Len() != 0 {
				t.Errorf("a refused text has %d keys", c.Len())
			}
		})
	}
}

// classify names the type of an error of the package, and where it points to.
func classify(err error) (kind, pointer string) {
	var syntax *wire.SyntaxError
	var shape *wire.ShapeError
	switch {
	case err == nil:
		return "", ""
	case errors.As(err, &syntax):
		return "syntax", ""
	case errors.As(err, &shape):
		return "shape", shape.Pointer
	}
	return "unknown", ""
}

func TestFold_RejectsInvalidUTF8(t *testing.T) {
	for _, text := range []string{
		"{\"a\":\"\xff\"}", "{\"\xc3\":1}", "{\"a\":[{\"\xed\xa0\x80\":1}]}", "{\"a\":\"\xc0\xaf\"}",
	} {
		for name, read := range map[string]func([]byte) (flat.Config, error){"Fold": flat.Fold, "Parse": flat.Parse} {
			_, err := read([]byte(text))
			if kind, _ := classify(err); kind != "syntax" {
				t.Errorf("%s(%q): %v", name, text, err)
			}
		}
	}
}
