package hubserver_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/schema"
)

func init() {
	rows["POST /v1/settings/check"] = row{request: func(*matrix) (string, any) {
		return "/v1/settings/check", `{"schema": {}, "settings": {}}`
	}, there: ok(200), absent: ok(200)}
	rows["GET /v1/stacks/{account}/{slug}/versions/{version}/settings-schema"] = row{
		role: wire.Reader, request: named("/v1/stacks", "site", "/versions/1.0.0/settings-schema"), there: gone, absent: gone,
	}
}

const themeSchema = `{"properties": {"color": {"enum": ["teal", "red"]}, "size": {"type": "integer"}}}`

// schemaBundle is a version of @acme/site with a schema of its settings.
func schemaBundle(t testing.TB, version, settings string, more ...file) typed {
	manifest := file{name: "stack.json",
		content: fmt.Sprintf(`{"name": "@acme/site", "version": %q, "settings": %s}`, version, settings)}
	return typed{"application/gzip", gzipped(t, tarOf(t, append(more, manifest)...))}
}

func TestPublish_StoresSettingsSchema(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		const named = `{"schema": "schema/settings.json"}`
		path := func(version string) string { return site + "/versions/" + version }
		hub.as("alice").put(path("1.0.0"),
			schemaBundle(t, "1.0.0", named, file{name: "schema/settings.json", content: themeSchema})).want(201)
		a := hub.as("rita").get(path("1.0.0") + "/settings-schema").want(200)
		if string(a.body) != themeSchema || a.etag() != `"`+sha([]byte(themeSchema))+`"` {
			t.Errorf("%s, %s", a.body, a.etag())
		}
		hub.as("rita").get(path("1.0.0")+"/settings-schema", header{"If-None-Match": a.etag()}).want(304)
		for i, other := range []string{`{}`, `"mine"`, `{"other": 1}`, `null`} {
			number := fmt.Sprintf("1.%d.0", i+1)
			hub.as("alice").put(path(number), schemaBundle(t, number, other)).want(201)
			hub.as("rita").get(path(number)+"/settings-schema").problem(404, wire.CodeNotFound)
		}
		for _, bad := range []struct{ settings, content string }{
			{named, `{"type": "nothing"}`},
			{named, `{"$ref": "http://127.0.0.1/schema.json"}`},
			{named, `{`},
			{`{"schema": "none.json"}`, `{}`},
			{`{"schema": "../schema/settings.json"}`, `{}`},
			{`{"schema": "/etc/passwd"}`, `{}`},
			{`{"schema": 1}`, `{}`},
		} {
			hub.as("alice").put(path("2.0.0"),
				schemaBundle(t, "2.0.0", bad.settings, file{name: "schema/settings.json", content: bad.content})).problem(422,
				wire.CodeInvalidBody)
		}
		hub.as("rita").get(path("2.0.0")).problem(404, wire.CodeNotFound)
	})
}

func TestSettings_AreCheckedAgainstSchema(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").put(site+"/versions/9.0.0",
			schemaBundle(t, "9.0.0", `{"schema": "s.json"}`, file{name: "s.json", content: themeSchema})).want(201)
		enforce := func(on bool) {
			t.Helper()
			hub.as("alice").patch(web, fmt.Sprintf(`{"enforceSchema": %t}`, on)).problem(403, wire.CodeNotPermitted)
			if p := decoded[wire.Project](
				hub.as("anna").patch(web, fmt.Sprintf(`{"enforceSchema": %t}`, on)).want(200)); p.EnforceSchema != on {
				t.Errorf("enforceSchema is %t, want %t", p.EnforceSchema, on)
			}
		}
		good, bad := `{"settings": {"color": "teal", "size": 1}}`, `{"settings": {"color": "blue", "size": 1.5}}`

		if w := decoded[wire.ConfigWritten](hub.as("alice").put(clientCfg, good).want(200)); len(w.Findings) > 0 {
			t.Errorf("findings %v for valid settings", w.Findings)
		}
		w := decoded[wire.ConfigWritten](hub.as("alice").put(clientCfg, bad).want(200))
		if len(w.Findings) != 2 || w.Findings[0].Pointer != "/color" || w.Findings[1].Pointer != "/size" {
			t.Errorf("findings %v, want one about /color and one about /size", w.Findings)
		}

		check := clientCfg + "?dryRun=1"
		if w := decoded[wire.ConfigWritten](hub.as("alice").post(check, bad).want(200)); len(w.Findings) != 2 {
			t.Errorf("findings %v of a dry run", w.Findings)
		}
		enforce(true)
		hub.as("alice").post(check, bad).problem(422, wire.CodeSettingsInvalid)
		hub.as("alice").post(check, good).want(200)
		p := hub.as("alice").put(clientCfg, bad+" ").problem(422, wire.CodeSettingsInvalid)
		if len(p.Errors) != 2 || p.Errors[0].Pointer != "/color" {
			t.Errorf("errors %v", p.Errors)
		}
		hub.as("alice").put(clientCfg, good).want(200)
		hub.as("alice").patch(config, `{"set": {"size": 2.5}}`, header{"If-Match": "*"}).problem(422,
			wire.CodeSettingsInvalid)
		hub.as("alice").patch(config, `{"set": {"size": 3}}`, header{"If-Match": "*"}).want(200)

		enforce(false)
		hub.as("alice").put(clientCfg, bad).want(200)
	})
}

func TestCheckSettings(t *testing.T) {
	hub := one(t, nil)
	rita := hub.as("rita")
	body := func(schema, settings string) typed {
		return typed{"application/json", []byte(`{"schema": ` + schema + `, "settings": ` + settings + `}`)}
	}
	const path = "/v1/settings/check"
	bad := body(themeSchema, `{"color": "blue", "size": 1.5}`)
	checked := decoded[wire.CheckedSettings](rita.post(path, bad).want(200))
	if f := checked.Findings; len(f) != 2 || f[0].Pointer != "/color" || f[1].Pointer != "/size" || f[1].Detail == "" {
		t.Errorf("findings %v, want one about /color and one about /size", f)
	}
	a := rita.post(path, body(`true`, `{"color": "blue"}`)).want(200)
	if got := strings.TrimSpace(string(a.body)); got != `{"findings":[]}` {
		t.Errorf("%s", got)
	}
	for _, bad = range []typed{
		body(`{"type": "nothing"}`, `{}`), body(`{"$ref": "http://127.0.0.1/schema.json"}`, `{}`), body(`{}`, `[]`),
		{"application/json", []byte(`{"schema": {}}`)}, {"application/json", []byte(`{"settings": {}}`)},
	} {
		rita.post(path, bad).problem(422, wire.CodeInvalidBody)
	}
	rita.post(path, body(`{"title": "`+strings.Repeat("x", schema.MaxBytes)+`"}`, `{}`)).problem(422, wire.CodeInvalidBody)
	rita.post(path, body(`{"title": "`+strings.Repeat("x", 2<<20)+`"}`, `{}`)).problem(413, wire.CodeTooLarge)
	rita.post(path, `{"schema": `).problem(400, wire.CodeInvalidJSON)
	rita.post(path, typed{"text/plain", []byte(`{}`)}).problem(415, wire.CodeUnsupportedMediaType)
	hub.with("").post(path, body(`{}`, `{}`)).problem(401, wire.CodeUnauthorized)
}

func TestSettings_AreWrittenWhenSchemaIsDamaged(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		published := schemaBundle(t, "9.0.0", `{"schema": "s.json"}`, file{name: "s.json", content: themeSchema})
		hub.as("alice").put(site+"/versions/9.0.0", published).want(201)
		hub.flip("blobs", "body", "sha256 = '"+sha([]byte(themeSchema))+"'")
		w := decoded[wire.ConfigWritten](hub.as("alice").put(clientCfg, `{"settings": {"color": "teal"}}`).want(200))
		if len(w.Findings) != 1 || !strings.Contains(w.Findings[0].Detail, "could not be checked") {
			t.Errorf("findings %v, want that the settings could not be checked", w.Findings)
		}
		if now := decoded[wire.Config](hub.as("alice").get(config).want(200)); now.Revision != w.Revision {
			t.Errorf("the revision is %s, not %s", now.Revision, w.Revision)
		}
		hub.as("anna").patch(web, `{"enforceSchema": true}`).want(200)
		hub.as("alice").put(clientCfg, `{"settings": {"color": "red"}}`).want(500)
		hub.as("alice").put(site+"/versions/9.0.0", published).want(200)
		hub.as("alice").put(clientCfg, `{"settings": {"color": "green"}}`).problem(422, wire.CodeSettingsInvalid)
	})
}

func TestFileSchema_IsCached(t *testing.T) {
	hub := one(t, nil)
	nobody := hub.with("")
	for _, name := range []string{"client.json", "client.env.json", "stack.json", "hub.json"} {
		a := nobody.get("/schema/" + name).want(200)
		if a.header.Get("Content-Type") != "application/schema+json" ||
			a.header.Get("Cache-Control") != "public, max-age=3600" || a.etag() != `"`+sha(a.body)+`"` {
			t.Errorf("%s: %v", name, a.header)
		}
		if err := schema.Check(a.body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		nobody.get("/schema/"+name, header{"If-None-Match": a.etag()}).want(304)
	}
	nobody.get("/schema/fileschema.go").problem(404, wire.CodeNotFound)
}
