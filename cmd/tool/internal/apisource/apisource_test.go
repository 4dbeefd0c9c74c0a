package apisource_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"example.com/projecthub/cmd/tool/internal/apisource"
)

// files reads the files of an archive.
func files(archive string) apisource.ReadFile {
	all := map[string]string{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		all[f.Name] = string(f.Data)
	}
	return func(name string) ([]byte, string, error) {
		if data, ok := all[path.Clean(name)]; ok {
			return []byte(data), path.Clean(name), nil
		}
		return nil, "", fs.ErrNotExist
	}
}

// The layouts of well-known projects, in small.
func TestBundle_MakesOneDocument(t *testing.T) {
	for _, layout := range []string{"by-folder", "by-operation", "separate"} {
		t.Run(layout, func(t *testing.T) {
			archive, err := txtar.ParseFile("testdata/" + layout + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			want := archive.Files[len(archive.Files)-1]
			s, err := apisource.Bundle(files(string(txtar.Format(archive))), "openapi.yaml")
			if err != nil || len(s.Problems) > 0 {
				t.Fatalf("%v, %v", err, s)
			}
			if diff := cmp.Diff(string(want.Data), string(s.Document)); diff != "" {
				t.Error(diff)
			}
			if len(s.Files) != len(archive.Files)-1 || s.Files[0] != "openapi.yaml" {
				t.Errorf("the files are %q", s.Files)
			}
		})
	}
}

// The projects themselves are not part of the repository: HUB_TEST_DESCRIPTIONS names a
// directory that has them in its folder layouts, by the names of their repositories.
func TestBundle_PublicLayouts(t *testing.T) {
	dir := os.Getenv("HUB_TEST_DESCRIPTIONS")
	if dir == "" {
		t.Skip("HUB_TEST_DESCRIPTIONS names no directory with public descriptions")
	}
	root, err := os.OpenRoot(dir + "/layouts")
	if err != nil {
		t.Skip(err)
	}
	defer root.Close()
	read := func(name string) ([]byte, string, error) {
		data, err := root.ReadFile(name)
		return data, name, err
	}
	for name, want := range map[string]string{
		"Redocly/openapi-starter/openapi/openapi.yaml":                                  "40 files, 0 problems",
		"OAI/learn.openapis.org/examples/v2.0/yaml/petstore-separate/spec/swagger.yaml": "5 files, 0 problems",
		"OAI/learn.openapis.org/examples/v2.0/json/petstore-separate/spec/swagger.json": "5 files, 0 problems",
		"digitalocean/openapi/specification/DigitalOcean-public.v2.yaml":                "1509 files, 0 problems",
		"Rebilly/api-definitions/openapi/openapi.yaml":                                  "1506 files, 0 problems",
	} {
		if _, err := root.Stat(name); err != nil {
			t.Logf("%s is absent", name)
			continue
		}
		s, err := apisource.Bundle(read, name)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%d files, %d problems", len(s.Files), len(s.Problems))
		}
		if !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestBundle_LeavesOneFileAlone(t *testing.T) {
	for _, text := range []string{
		`{"openapi": "3.0.0", "paths": {}, "x": [1,   2], "a": {"$ref": "#/x"}}`,
		"openapi:   3.0.0\npaths: {/a: {$ref: 'https://a.example/b.yaml#/c'}}\n",
		"a: [", "", "- 1", "\xff",
	} {
		s, err := apisource.Bundle(files("-- openapi.yaml --\n"+text), "openapi.yaml")
		if err != nil || strings.TrimSuffix(string(s.Document), "\n") != strings.TrimSuffix(text, "\n") {
			t.Errorf("%q became %+v, %v", text, s, err)
		}
	}
}

func TestBundle_JSONBecomesYAML(t *testing.T) {
	s, err := apisource.Bundle(files(`-- openapi.json --
{"openapi": "3.0.0", "paths": {}, "components": {"schemas": {"A": {"$ref": "a.yaml"},
  "B": {"type": "string", "default": "5"}}}}
-- a.yaml --
type: string
`), "openapi.json")
	want := `"openapi": "3.0.0"
"paths": {}
"components":
  "schemas":
    "A":
      type: string
    "B":
      "type": "string"
      "default": "5"
`
	if err != nil || string(s.Document) != want {
		t.Errorf("%v\n%s", err, s.Document)
	}
}

func TestBundle_Cycles(t *testing.T) {
	s, err := apisource.Bundle(files(`-- openapi.yaml --
openapi: 3.0.0
paths:
  /a: {$ref: a.yaml}
components:
  schemas:
    A: {$ref: 'b.yaml#/A'}
-- a.yaml --
post:
  callbacks:
    again: {'{$url}': {$ref: a.yaml}}
-- b.yaml --
A: {items: {$ref: '#/B'}}
B: {items: {$ref: '#/A'}}
`), "openapi.yaml")
	want := `openapi: 3.0.0
paths:
  /a:
    post:
      callbacks:
        again: {'{$url}': {$ref: '#/paths/~1a'}}
components:
  schemas:
    A: {items: {$ref: '#/components/schemas/B'}}
    B: {items: {$ref: '#/components/schemas/A'}}
`
	if err != nil || len(s.Problems) > 0 {
		t.Fatalf("%v, %v", err, s)
	}
	if diff := cmp.Diff(want, string(s.Document)); diff != "" {
		t.Error(diff)
	}
}

func TestBundle_NamesDanglingReferencesToFilesByLine(t *testing.T) {
	s, err := apisource.Bundle(files(`-- api/openapi.yaml --
openapi: 3.0.0
paths:
  /a: {$ref: a.yaml}
  /b: {$ref: ../../etc/b.yaml}
  /c: {$ref: /etc/c.yaml}
  /d: {$ref: none.yaml}
components:
  schemas:
    A: {$ref: '#/components/schemas/None'}
    B: {$ref: 'broken.yaml'}
    C: {$ref: 'https://a.example/c.yaml'}
    D: {example: {$ref: none.yaml}, default: {$ref: none.yaml}, x-a: {$ref: none.yaml}}
-- api/a.yaml --
get:
  responses:
    '200': {$ref: 'b.yaml#/none'}
-- api/b.yaml --
some: {}
-- api/broken.yaml --
a: b
c
`), "api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range s.Problems {
		got = append(got, p.String())
	}
	want := []string{
		`api/broken.yaml:2:1: could not find expected ':'`,
		`api/a.yaml:3:19: "b.yaml#/none" does not exist: api/b.yaml has no #/none`,
		`api/openapi.yaml:4:14: "../../etc/b.yaml" leads out of the workspace`,
		`api/openapi.yaml:5:14: "/etc/c.yaml" leads out of the workspace`,
		`api/openapi.yaml:6:14: "none.yaml" cannot be read: file does not exist`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Only the first document of a file could be used, and the rest would be lost without a word.
func TestBundle_RefusesASecondDocument(t *testing.T) {
	const root = "openapi: 3.0.0\npaths:\n  /a: {$ref: a.yaml}\n"
	s, err := apisource.Bundle(files("-- openapi.yaml --\n"+root+"-- a.yaml --\nget: {}\n---\npost: {}\n"), "openapi.yaml")
	if want := "[a.yaml:2:1: more than one document: a file has one]"; err != nil || fmt.Sprint(s.Problems) != want {
		t.Errorf("%v, %v, want %s", s, err, want)
	}
	s, err = apisource.Bundle(files("-- openapi.yaml --\n"+root+"---\nb: 1\n-- a.yaml --\nget: {}\n"), "openapi.yaml")
	if want := "[openapi.yaml:4:1: more than one document: a file has one]"; err != nil || fmt.Sprint(s.Problems) != want {
		t.Errorf("%v, %v, want %s", s, err, want)
	}
}

func TestBundle_Limits(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes a second")
	}
	many := "-- openapi.yaml --\nopenapi: 3.0.0\ncomponents:\n  schemas:\n"
	for i := range apisource.MaxFiles {
		many += fmt.Sprintf("    A%d: {$ref: a%d.yaml}\n", i, i)
	}
	for i := range apisource.MaxFiles {
		many += fmt.Sprintf("-- a%d.yaml --\n{}\n", i)
	}
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	const start = "-- openapi.yaml --\nopenapi: 3.0.0\npaths: {/a: {$ref: a.yaml}}\n-- a.yaml --\n"
	for name, test := range map[string]struct{ archive, want string }{
		"files":           {many, "more than 2000 files"},
		"bytes":           {start + "get: {summary: " + strings.Repeat("x", 16<<20) + "}\n", "larger than 16 MiB"},
		"billion laughs":  {start + laughs, "more than 1000000 values"},
		"alias of itself": {start + "get: &a {callbacks: *a}\n", "an alias contains itself"},
		"deep": {start + "get: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n",
			"nested more than 200 deep"},
		"doubling in files": {doubling(30), "more than 1000000 values"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := apisource.Bundle(files(test.archive), "openapi.yaml")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, %v, want %q", s, err, test.want)
			}
		})
	}
}

// doubling is a description of n files, each of which refers twice to the next where
// a copy has to be made.
func doubling(n int) string {
	all := "-- openapi.yaml --\nopenapi: 3.2.0\ncomponents: {mediaTypes: {a: {encoding: {a: {$ref: e0.yaml}}}}}\n"
	for i := range n {
		all += fmt.Sprintf("-- e%d.yaml --\nencoding: {a: {$ref: e%d.yaml}, b: {$ref: e%d.yaml}}\n", i, i+1, i+1)
	}
	return all
}

func FuzzBundle(f *testing.F) {
	f.Add("paths: {/a: {$ref: a.yaml}}", "get: {$ref: '#/get'}")
	f.Add("swagger: '2.0'\ndefinitions: {A: {$ref: 'a.yaml#/B'}}", "B: {items: {$ref: 'openapi.yaml#/definitions/A'}}")
	f.Add("components: {schemas: {$ref: a.yaml}}", "A: {discriminator: {mapping: {a: './a.yaml#/A'}}}")
	f.Add("a: &a {$ref: a.yaml}\npaths: {<<: *a}", "<<: {$ref: a.yaml}")
	f.Fuzz(func(t *testing.T, root, other string) {
		s, err := apisource.Bundle(func(name string) ([]byte, string, error) {
			switch name {
			case "openapi.yaml":
				return []byte(root), name, nil
			case "a.yaml":
				return []byte(other), name, nil
			}
			return nil, "", fs.ErrNotExist
		}, "openapi.yaml")
		if err == nil && (len(s.Files) == 0 || s.Document == nil) {
			t.Errorf("%+v", s)
		}
	})
}

// A repository decides how many references have the same name.
func TestBundle_TakesTimeInProportionToTheReferences(t *testing.T) {
	const n = 10_000
	var root, other strings.Builder
	root.WriteString("openapi: 3.0.3\ncomponents:\n  schemas:\n    All:\n      properties:\n")
	for i := range n {
		fmt.Fprintf(&root, "        p%d: {$ref: 'other.yaml#/x%d/same'}\n", i, i)
		fmt.Fprintf(&other, "x%d: {same: {type: string}}\n", i)
	}
	files := map[string]string{"openapi.yaml": root.String(), "other.yaml": other.String()}
	s, err := apisource.Bundle(func(name string) ([]byte, string, error) { return []byte(files[name]), name, nil },
		"openapi.yaml")
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s)
	}
	if last := fmt.Sprintf("same-%d", n); !strings.Contains(string(s.Document), " "+last+": {") {
		t.Errorf("the document has no %s", last)
	}
}

// Each use of an alias is another reference: one of megabytes would be read a million times.
func TestBundle_ReportsALongReferenceOnce(t *testing.T) {
	text := "openapi: 3.1.0\nx-r: &r\n  $ref: './b.yaml#/" + strings.Repeat("a", 5000) + "'\n" +
		"paths:\n  /a: {get: {parameters: [*r, *r, *r]}}\n"
	read := func(string) ([]byte, string, error) { return []byte(text), "openapi.yaml", nil }
	s, err := apisource.Bundle(read, "openapi.yaml")
	if want := "[openapi.yaml:3:9: the reference is longer than 4096 characters]"; err != nil ||
		fmt.Sprint(s.Problems) != want {
		t.Errorf("%v, %v", s.Problems, err)
	}
}
