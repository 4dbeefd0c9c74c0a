package workspace_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
)

const prodJSON = ".tool/web/client.prod.json"

// inProd returns a project in the environment prod, with these files.
func inProd(t testing.TB, client, env string, more ...string) *workspace.Project {
	t.Helper()
	files := map[string]string{clientJSON: client, prodJSON: env}
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return project(t, newWorkspace(t, files)).In("prod")
}

func readClient(t testing.TB, p *workspace.Project) *workspace.Client {
	t.Helper()
	c, err := p.Client()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEnvironments_AreTheFilesNamedSo(t *testing.T) {
	w := newWorkspace(t, map[string]string{
		clientJSON: "{}", prodJSON: "{}", ".tool/web/client.a-1.json": "{}", ".tool/web/client.No.json": "{}",
		".tool/web/client.json.bak": "{}", ".tool/web/client..json": "{}", ".tool/web/stack.json": "{}",
	})
	got, err := project(t, w).Environments()
	if diff := cmp.Diff([]string{"a-1", "prod"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestEnvironment_OverlaysClient(t *testing.T) {
	c := readClient(t, inProd(t,
		`{"project": "@a/web", "api": "@a/api", "source": "x.yaml", "settings": {"basePath": "src", "theme": {"dark": true, "size": 1}}, "enrichments": [{}]}`,
		`{"project": "@b/web", "settings": {"basePath": "app/src", "theme": {"size": null, "accent": "teal"}}}`))
	if c.Project.Text != "@b/web" || c.API.Text != "@a/api" || c.Source.Text != "x.yaml" {
		t.Errorf("project %v, api %v, source %v", c.Project, c.API, c.Source)
	}
	wantConfig(t, c, fold(t, `{"basePath": "app/src", "theme": {"dark": true, "accent": "teal"}, "enrichments": [{}]}`))
	if base, err := c.BasePath(); err != nil || base.Text != "app/src" || base.At.File != prodJSON {
		t.Errorf("base path %v, %v", base, err)
	}
}

func TestEnvironment_KeepsRefsOfOtherHubsApart(t *testing.T) {
	const client = `{"project": "@a/web", "api": "@a/api", "settings": {}}`
	for _, test := range []struct{ name, env, hub, api string }{
		{"the workspace's hub", `{}`, "https://a.example.com", "@a/api"},
		{"the same hub by name", `{"origin": "https://A.example.com/"}`, "https://a.example.com", "@a/api"},
		{"another hub", `{"origin": "https://b.example.com"}`, "https://a.example.com", ""},
		{"its own API", `{"origin": "https://b.example.com", "api": "@b/api"}`, "https://a.example.com", "@b/api"},
	} {
		c := readClient(t, inProd(t, client, test.env, ".tool/hub.json", `{"origin": "`+test.hub+`"}`))
		if c.Project.Present() || c.API.Text != test.api {
			t.Errorf("%s: project %q, api %q, want none and %q", test.name, c.Project.Text, c.API.Text, test.api)
		}
	}
}

func TestEnvironment_ErrorsHavePositions(t *testing.T) {
	for text, reason := range map[string]string{
		"":                                   ":1:1: the file is empty",
		"{\n  \"origin\": \"hub\"\n}":        ":2:13: origin is not of the form",
		`{"project": 1}`:                     ":1:13: project is a number: a string was expected",
		`{"settings": null}`:                 ":1:14: settings is null: an object was expected",
		"{\n=======\n<<<<<<< a\n":            ":3:1: git conflict markers",
		`{"settings": {"enrichments": [1]}}`: ":1:31: settings.enrichments[0] is a number: a record is an object",
	} {
		_, err := inProd(t, `{"settings": {}}`, text).Client()
		wantFault(t, err, failure.CodeInvalidFile, prodJSON+reason)
	}
}

func TestEnvironment_WarnsAboutUnusedMembers(t *testing.T) {
	c := readClient(t, inProd(t, `{"settings": {}}`, `{"orign": "x", "enrichments": [], "source": "x", "$schema": "x"}`))
	want := []string{
		prodJSON + `:1:2: "orign" is not used: did you mean "origin"?`,
		prodJSON + `:1:16: "enrichments" is not used in an environment: write it into settings`,
		prodJSON + `:1:35: "source" is not used in an environment: client.json names the source`,
	}
	var got []string
	for _, w := range c.Warnings {
		got = append(got, w.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestRecord_WritesIntoTheEnvironment(t *testing.T) {
	p := inProd(t, `{"project": "@a/web", "settings": {}}`, "{\n  \"settings\": {}\n}\n")
	c := readClient(t, p)
	if changed, err := c.Record("project", "@b/web", true); err != nil || !changed || c.Project.Text != "@b/web" {
		t.Errorf("%v, %v, project %v", changed, err, c.Project)
	}
	if got, want := read(t, p.Workspace.Dir, prodJSON),
		"{\n  \"settings\": {},\n  \"project\": \"@b/web\"\n}\n"; got != want {
		t.Errorf("%s is %s, want %s", prodJSON, got, want)
	}
	if got := read(t, p.Workspace.Dir, clientJSON); !strings.Contains(got, "@a/web") {
		t.Errorf("client.json is %s", got)
	}
}

func TestReplace_EditsTheFileThatHasTheKey(t *testing.T) {
	p := inProd(t,
		"{\n  \"settings\": {\n    \"title\": \"Pets\",\n    \"size\": 1.0\n  },\n  \"enrichments\": [{\"id\": 1}]\n}\n",
		"{\n  \"settings\": { \"title\": \"Prod\" }\n}\n")
	c := readClient(t, p)
	config := fold(t, `{"title": "Live", "size": 2, "enrichments": [{"id": 2}]}`)
	changed, err := c.Replace(config)
	if diff := cmp.Diff([]string{prodJSON, clientJSON}, changed); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, want := read(t, p.Workspace.Dir, clientJSON),
		"{\n  \"settings\": {\n    \"title\": \"Pets\",\n    \"size\": 2\n  },\n  \"enrichments\": [{\"id\": 2}]\n}\n"; got != want {
		t.Errorf("client.json is %s, want %s", got, want)
	}
	if got, want := read(t, p.Workspace.Dir, prodJSON), "{\n  \"settings\": { \"title\": \"Live\" }\n}\n"; got != want {
		t.Errorf("%s is %s, want %s", prodJSON, got, want)
	}
	wantConfig(t, c, config)
	if changed, err := c.Replace(config); err != nil || len(changed) > 0 {
		t.Errorf("again: %v, %v", changed, err)
	}
}

func TestReplace_TakesTheEnvironmentBackIfClientWasEdited(t *testing.T) {
	p := inProd(t, `{"settings": {"a": 1}}`, `{"settings": {"b": 1}}`)
	c := readClient(t, p)
	write(t, p.Workspace.Dir, clientJSON, `{"settings": {"a": 3}}`)
	_, err := c.Replace(fold(t, `{"a": 2, "b": 2}`))
	wantFault(t, err, failure.CodeNotRecorded, clientJSON+": it was edited meanwhile")
	if got := read(t, p.Workspace.Dir, prodJSON); got != `{"settings": {"b": 1}}` {
		t.Errorf("%s is %s", prodJSON, got)
	}
}

func TestBases_OfEnvironmentsOnOneHub(t *testing.T) {
	const origin = "https://a.example.com"
	plain := project(t, newWorkspace(t, map[string]string{clientJSON: "{}", prodJSON: "{}"}))
	prod := plain.In("prod")
	web, live := newRef(t, "acme", "web"), newRef(t, "acme", "live")
	for _, r := range []struct {
		p    *workspace.Project
		base workspace.Pulled
	}{{plain, workspace.Pulled{Project: web, Revision: "1"}}, {prod, workspace.Pulled{Project: live, Revision: "2"}}} {
		if err := r.p.RecordPulled(origin, r.base); err != nil {
			t.Fatal(err)
		}
	}
	want := func(p *workspace.Project, r ref.Ref, revision string) {
		t.Helper()
		bases, err := p.Bases()
		if err != nil {
			t.Fatal(err)
		}
		if base := bases.Of(origin, r); (base == nil) != (revision == "") || base != nil && base.Revision != revision {
			t.Errorf("%+v of %q, want %q", base, p.Env, revision)
		}
	}
	want(plain, web, "1")
	want(plain, live, "")
	want(prod, live, "2")
	want(prod, web, "")
	if err := prod.RecordPulled(origin, workspace.Pulled{}); err != nil {
		t.Fatal(err)
	}
	want(plain, web, "1")
	want(prod, web, "1") // that of client.json, until it has one of its own
	want(prod, live, "")
}

func newRef(t testing.TB, account, slug string) ref.Ref {
	t.Helper()
	r, err := ref.New(account, slug)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func FuzzEnvironment(f *testing.F) {
	const client = `{"settings": {"basePath": "src", "theme": {"dark": true}, "enrichments": [{"id": 1}]}}`
	for _, seed := range []string{
		`{"origin":"https://a","project":"@a/b","settings":{"theme":{"dark":null}}}`, `{"settings":{"theme":1}}`,
		`{"settings":{"enrichments":null}}`, "\ufeff{}", `{"settings":1}`, `{"api":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := workspace.ParseInEnvironment([]byte(client), text)
		if err != nil {
			var e failure.Failure
			if !errors.As(err, &e) || e.Code != failure.CodeInvalidFile {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		settings, err := c.Settings()
		if err != nil || !json.Valid(settings) {
			t.Fatalf("%q: settings %q, %v", text, settings, err)
		}
		if _, err := c.Config(); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
