package workspace_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
)

const (
	pulledJSON = ".tool/web/pulled.json"
	here       = "http://127.0.0.1:4680"
	there      = "https://hub.example.com"
)

func acmeWeb(t *testing.T) ref.Ref {
	t.Helper()
	web, err := ref.Parse("@acme/web")
	if err != nil {
		t.Fatal(err)
	}
	return web
}

func wantBase(t *testing.T, p *workspace.Project, origin string, want *workspace.Pulled) {
	t.Helper()
	bases, err := p.Bases()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, bases.Of(origin, acmeWeb(t)),
		cmp.Comparer(func(a, b ref.Ref) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}

func record(t *testing.T, p *workspace.Project, origin string, base workspace.Pulled) {
	t.Helper()
	if err := p.RecordPulled(origin, base); err != nil {
		t.Fatal(err)
	}
}

func TestPulled_KeepsABaseForEachHub(t *testing.T) {
	w := newWorkspace(t, map[string]string{clientJSON: "{}"})
	p := project(t, w)
	wantBase(t, p, here, nil)
	zero, a := workspace.Pulled{Project: acmeWeb(t), Revision: strings.Repeat("0", 64)},
		workspace.Pulled{Project: acmeWeb(t), Revision: strings.Repeat("a", 64)}
	record(t, p, here, zero)
	text := "{\n  \"" + here + "\": {\n    \"project\": \"@acme/web\",\n    \"revision\": \"" + zero.Revision +
		"\"\n  }\n}\n"
	if got := read(t, w.Dir, pulledJSON); got != text {
		t.Errorf("pulled.json is %s", got)
	}
	record(t, p, there, a)
	wantBase(t, p, here, &zero)
	wantBase(t, p, there, &a)
	record(t, p, there, workspace.Pulled{})
	if got := read(t, w.Dir, pulledJSON); got != text {
		t.Errorf("after the other base was removed, pulled.json is %s", got)
	}
	record(t, p, here, workspace.Pulled{})
	record(t, p, here, workspace.Pulled{})
	if got := files(t, w.Dir); !cmp.Equal(got, []string{clientJSON}) {
		t.Errorf("there are %v", got)
	}
}

func TestPulled_RewritesADamagedFile(t *testing.T) {
	p := project(t, newWorkspace(t, map[string]string{clientJSON: "{}", pulledJSON: "<<<<<<< HEAD\n{}\n=======\n"}))
	base := workspace.Pulled{Project: acmeWeb(t), Revision: "1"}
	record(t, p, here, base)
	wantBase(t, p, here, &base)
}

func TestPulled_RejectsDamagedFile(t *testing.T) {
	for text, reason := range map[string]string{
		`{"project": "@a/b"}`:                                 `: it is not as tool writes it`,
		`{"http://a": 1}`:                                     `: it is not as tool writes it`,
		`{"http://a": {"project": "a", "revision":1}}`:        `: it is not as tool writes it`,
		`{"http://a": {"project": "a"}}`:                      `: http://a: "a" is not of the form @account/slug`,
		`{"http://a": {"project": "@a/b"}}`:                   `: http://a: no "revision"`,
		`{"http://a": {"project": "@a/b", "revision": null}}`: `: http://a: no "revision"`,
		"{\n<<<<<<< HEAD\n\"a\": 1\n=======\n}":               `:2:1: git conflict markers`,
		"{\n\"a\": \"<<<<<<< HEAD\",\n<<<<<<<< no\n}":         `:3:1: `,
	} {
		_, err := project(t, newWorkspace(t, map[string]string{clientJSON: "{}", pulledJSON: text})).Bases()
		wantFault(t, err, failure.CodeInvalidFile, pulledJSON+reason)
	}
}

func TestPulled_HasBothSidesOfAGitConflict(t *testing.T) {
	base := func(revision string) string { return `{"project": "@acme/web", "revision": "` + revision + `"}` }
	p := project(t, newWorkspace(t, map[string]string{clientJSON: "{}", pulledJSON: "{\r\n" +
		"<<<<<<< HEAD\r\n\"" + here + "\": " + base("1") + ",\r\n\"http://ours\": " + base("4") + ",\r\n" +
		"||||||| 0a1b2c\r\n\"" + here + "\": 1,\r\n=======\r\n" +
		"\"" + here + "\": " + base("2") + ",\r\n\"http://theirs\": " + base("5") + ",\r\n>>>>>>> b\r\n" +
		"\"" + there + "\": " + base("3") + "\r\n}\r\n"}))
	bases, err := p.Bases()
	wantFault(t, err, failure.CodeInvalidFile, pulledJSON+":2:1: git conflict markers")
	if sides := bases.Sides(here, acmeWeb(t)); len(sides) != 2 || sides[0].Revision != "1" || sides[1].Revision != "2" {
		t.Errorf("the sides are %v", sides)
	}
	record(t, p, there, workspace.Pulled{Project: acmeWeb(t), Tree: "t"})
	wantBase(t, p, there, &workspace.Pulled{Project: acmeWeb(t), Revision: "3", Tree: "t"})
	wantBase(t, p, "http://ours", &workspace.Pulled{Project: acmeWeb(t), Revision: "4"})
	wantBase(t, p, "http://theirs", &workspace.Pulled{Project: acmeWeb(t), Revision: "5"})
	wantBase(t, p, here, nil)
}
