package hubserver_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

func TestPutConfig_FoldsAndReplaces(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		first := alice.put(clientCfg,
			`{"source": "openapi.yaml", "settings": {"theme": {"color": "teal", "n": 1.0}, "a.b": [1, {"z": 1, "y": 2}], "enrichments": [{}, {}]}}`).want(200)
		w := decoded[wire.ConfigWritten](first)
		const flat = `{"a\\.b":[1,{"y":2,"z":1}],"enrichments":[{},{}],"theme.color":"teal","theme.n":1.0}`
		if string(w.Config) != flat || w.EnrichmentCount != 2 || w.OverwroteExistingConfig || w.Replaced != nil {
			t.Errorf("the first push: %+v", w)
		}
		if w.Revision != sha([]byte(flat)) || first.etag() != `"`+w.Revision+`"` {
			t.Errorf("revision %s, ETag %s, want the SHA-256 of the config", w.Revision, first.etag())
		}
		second := decoded[wire.ConfigWritten](hub.as("anna").put(clientCfg, `{"settings": {"x": true}}`).want(200))
		if r := second.Replaced; !second.OverwroteExistingConfig || r == nil || string(r.Config) != flat ||
			r.Revision != w.Revision || r.UpdatedBy != "alice" || r.UpdatedVia != wire.ViaPush || r.UpdatedAt.IsZero() {
			t.Errorf("the second push: %+v", second)
		}
		got := decoded[wire.Config](hub.as("rita").get(config).want(200))
		if string(got.Config) != `{"x":true}` || got.Revision != second.Revision || !got.HasConfig ||
			got.UpdatedBy != "anna" {
			t.Errorf("a reader sees %+v", got)
		}
	})
}

// The hub reads the body without decoding it into the type that clients encode.
func TestPutConfig_HasTheMembersOfItsType(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for member := range reflect.TypeFor[wire.PutConfig]().Fields() {
			name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
			hub.as("alice").put(clientCfg, fmt.Sprintf(`{%q: {}}`, name)).want(200)
		}
		hub.as("alice").put(clientCfg, `{"Settings": {}}`).problem(422, wire.CodeInvalidBody)
	})
}

func TestPutConfig_EqualContentChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		etag := hub.settings(`{"a": {"b": 1}}`)
		before := hub.as("alice").get(config).body
		again := decoded[wire.ConfigWritten](hub.as("anna").put(clientCfg, `{"settings": {"a":{"b":1}}}`).want(200))
		if !again.OverwroteExistingConfig || again.Replaced == nil || `"`+again.Revision+`"` != etag {
			t.Errorf("the answer is %+v", again)
		}
		if after := hub.as("alice").get(config).body; !bytes.Equal(before, after) {
			t.Errorf("the config was %s, and is %s", before, after)
		}
		other := decoded[wire.ConfigWritten](hub.as("anna").put(clientCfg, `{"settings": {"a": {"b": 1.0}}}`).want(200))
		if `"`+other.Revision+`"` == etag {
			t.Error("1 and 1.0 have one revision")
		}
	})
}

func TestPutConfig_WithoutSettingsWritesNothing(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		etag := hub.settings(`{"a": 1}`)
		for _, body := range []string{`{}`, `{"source": {"any": ["thing"]}}`} {
			a := hub.as("anna").put(clientCfg, body).want(200)
			w := decoded[wire.ConfigWritten](a)
			if string(w.Config) != `{"a":1}` || w.OverwroteExistingConfig || w.Replaced != nil || a.etag() != etag {
				t.Errorf("%s: %+v", body, w)
			}
		}
		if c := decoded[wire.Config](hub.as("alice").get(config).want(200)); c.UpdatedBy != "alice" {
			t.Errorf("it was written by %s", c.UpdatedBy)
		}
	})
}

func TestPutConfig_EmptySettingsEmptyConfig(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.settings(`{"a": 1}`)
		w := decoded[wire.ConfigWritten](hub.as("alice").put(clientCfg, `{"settings": {}}`).want(200))
		c := decoded[wire.Config](hub.as("alice").get(config).want(200))
		if string(w.Config) != `{}` || !w.OverwroteExistingConfig || c.HasConfig || c.UpdatedVia != wire.ViaPush {
			t.Errorf("%+v, then %+v", w, c)
		}
	})
}

func TestGetConfig_NotModified(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		etag := hub.settings(`{"a": 1}`)
		for sent, status := range map[string]int{
			etag: 304, `"x", ` + etag: 304, "W/" + etag: 304, "*": 304, `"x"`: 200, strings.Trim(etag, `"`): 200,
		} {
			a := hub.as("rita").get(config, header{"If-None-Match": sent}).want(status)
			if a.etag() != etag || len(a.body) > 0 != (status == 200) {
				t.Errorf("If-None-Match %s: ETag %s, %d bytes", sent, a.etag(), len(a.body))
			}
		}
	})
}

func TestPutConfig_OtherRevisionIsRefusedWithAuthor(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		empty := alice.get(config).etag()
		etag := hub.settings(`{"a": 1}`)
		for name, h := range map[string]header{
			"stale":                         {"If-Match": empty},
			"weak":                          {"If-Match": "W/" + etag},
			"unquoted":                      {"If-Match": strings.Trim(etag, `"`)},
			"empty":                         {"If-Match": ""},
			"only a comma":                  {"If-Match": ","},
			"a seed where there is one":     {"If-None-Match": "*"},
			"not where this one is":         {"If-None-Match": etag},
			"a seed, though it has the tag": {"If-None-Match": "*", "If-Match": etag},
		} {
			p := alice.put(clientCfg, `{"settings": {"b": 2}}`, h).problem(412, wire.CodeRevisionChanged)
			if p.Current == nil || `"`+p.Current.Revision+`"` != etag || p.Current.UpdatedBy != "alice" ||
				p.Current.UpdatedVia != wire.ViaPush || !strings.Contains(p.Hint, "alice") {
				t.Errorf("%s: %+v", name, p)
			}
		}
		for name, h := range map[string]header{"its own tag": {"If-Match": etag},
			"one of several": {"If-Match": `"x",` + etag}, "any": {"If-Match": "*"}} {
			if a := alice.put(clientCfg, `{"settings": {"a": 1}}`, h).want(200); a.etag() != etag {
				t.Errorf("%s: ETag %s", name, a.etag())
			}
		}
	})
}

func TestPutConfig_SeedRequiresNoConfig(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		w := decoded[wire.ConfigWritten](
			hub.as("alice").put(clientCfg, `{"settings": {"a": 1}}`, header{"If-None-Match": "*"}).want(200))
		c := decoded[wire.Config](hub.as("alice").get(config).want(200))
		if w.OverwroteExistingConfig || c.UpdatedVia != wire.ViaCreate {
			t.Errorf("%+v, then %+v", w, c)
		}
	})
}

func TestPutConfig_OneOfManyWritersWins(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		etag := alice.get(config).etag()
		hubs, writers := hub.replicas(t, 3), rounds(8, 50)
		for round := range rounds(5, 200) {
			answers := make([]*answer, writers)
			var all sync.WaitGroup
			for i := range writers {
				all.Go(func() {
					var err error
					answers[i], err = hubs[i%len(hubs)].with(alice.token).try("PUT", clientCfg,
						fmt.Sprintf(`{"settings": {"winner": "%d of %d"}}`, i, round), header{"If-Match": etag})
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			count := map[int]int{}
			for _, a := range answers {
				if a.status == 200 {
					etag = a.etag()
				}
				count[a.status]++
			}
			if diff := cmp.Diff(map[int]int{200: 1, 412: writers - 1}, count); diff != "" {
				t.Fatal(diff)
			}
			if now := alice.get(config).etag(); now != etag {
				t.Fatalf("the winner wrote %s, there is %s", etag, now)
			}
		}
		t.Logf("%d rounds of %d writers to %d hubs", rounds(5, 200), writers, len(hubs))
	})
}

func TestPatchConfig_SetsAndRemovesKeys(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		etag := hub.settings(`{"a": {"b": 1, "c": 2}, "gone": [], "enrichments": {"x": {}}}`)
		a := hub.as("alice").patch(config, `{"set": {"a.b": "new", "d": null}, "remove": ["gone", "never there"]}`,
			header{"If-Match": etag}).want(200)
		w := decoded[wire.ConfigWritten](a)
		if string(w.Config) != `{"a.b":"new","a.c":2,"d":null,"enrichments.x":{}}` || !w.OverwroteExistingConfig ||
			w.EnrichmentCount != 1 {
			t.Errorf("%+v", w)
		}
		if c := decoded[wire.Config](hub.as("alice").get(config).want(200)); c.UpdatedVia != wire.ViaAPI ||
			`"`+c.Revision+`"` != a.etag() {
			t.Errorf("%+v", c)
		}
	})
}

func TestPatchConfig_OrderOfErrors(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		etag := hub.settings(`{"a": {"b": 1}}`)
		stale, fresh := header{"If-Match": `"x"`}, header{"If-Match": etag}
		for name, c := range map[string]struct {
			body    string
			headers []header
			status  int
			code    wire.Code
			pointer string
		}{
			"bad, without condition": {`{"set": {"k": {"l": 1}}}`, nil, 422, wire.CodeInvalidBody, "/set/k"},
			"a bad key":              {`{"set": {"a\\x": 1}}`, []header{stale}, 422, wire.CodeInvalidBody, `/set/a\x`},
			"a clash with itself":    {`{"set": {"k": 1, "k.l": 1}}`, nil, 422, wire.CodeInvalidBody, "/set/k.l"},
			"set and removed":        {`{"set": {"k": 1}, "remove": ["k"]}`, nil, 422, wire.CodeInvalidBody, "/set/k"},
			"a bad key removed":      {`{"remove": ["\\"]}`, nil, 422, wire.CodeInvalidBody, "/remove/0"},
			"an unknown member":      {`{"unset": ["k"]}`, nil, 422, wire.CodeInvalidBody, "/unset"},
			"set is not an object":   {`{"set": null}`, nil, 422, wire.CodeInvalidBody, "/set"},
			"without condition":      {`{"set": {"k": 1}}`, nil, 428, wire.CodePreconditionRequired, ""},
			"an empty condition":     {`{"set": {"k": 1}}`, []header{{"If-Match": ""}}, 412, wire.CodeRevisionChanged, ""},
			"stale":                  {`{"set": {"a": 1}}`, []header{stale}, 412, wire.CodeRevisionChanged, ""},
			"a leaf above a key":     {`{"set": {"a": 1}}`, []header{fresh}, 422, wire.CodeInvalidBody, "/set/a"},
			"a key below a leaf":     {`{"set": {"a.b.c": 1}}`, []header{fresh}, 422, wire.CodeInvalidBody, "/set/a.b.c"},
			"a key below a leaf with *": {`{"set": {"a.b.c": 1}}`, []header{{"If-Match": "*"}}, 422, wire.CodeInvalidBody,
				"/set/a.b.c"},
			"no JSON comes before 428":     {`{"set": `, nil, 400, wire.CodeInvalidJSON, ""},
			"a duplicate member":           {`{"set": {"k": 1, "k": 2}}`, nil, 400, wire.CodeInvalidJSON, ""},
			"a lone surrogate in a string": {`{"set": {"k": "\ud800"}}`, nil, 400, wire.CodeInvalidJSON, ""},
		} {
			p := hub.as("alice").patch(config, c.body, c.headers...).problem(c.status, c.code)
			if c.pointer != "" && (len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer) {
				t.Errorf("%s: blames %+v, want %s", name, p.Errors, c.pointer)
			}
		}
		if now := hub.as("alice").get(config).etag(); now != etag {
			t.Errorf("the config changed from %s to %s", etag, now)
		}
	})
}

func TestPutConfig_RejectsInvalidSettings(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		etag := hub.settings(`{"a": 1}`)
		deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
		veryDeep := strings.Repeat(`[`, 100_000) + strings.Repeat("]", 100_000)
		for name, c := range map[string]struct {
			body   string
			status int
			code   wire.Code
		}{
			"null":                 {`{"settings": null}`, 422, wire.CodeInvalidBody},
			"an array":             {`{"settings": []}`, 422, wire.CodeInvalidBody},
			"a string":             {`{"settings": "{}"}`, 422, wire.CodeInvalidBody},
			"an unknown member":    {`{"settings": {}, "enrichments": []}`, 422, wire.CodeInvalidBody},
			"a member twice":       {`{"settings": {"a": 1, "a": 1}}`, 400, wire.CodeInvalidJSON},
			"twice when decoded":   {`{"settings": {"a": 1, "\u0061": 1}}`, 400, wire.CodeInvalidJSON},
			"invalid UTF-8":        {"{\"settings\": {\"a\": \"\xff\"}}", 400, wire.CodeInvalidJSON},
			"NaN":                  {`{"settings": {"a": NaN}}`, 400, wire.CodeInvalidJSON},
			"a trailing comma":     {`{"settings": {"a": 1,}}`, 400, wire.CodeInvalidJSON},
			"a byte order mark":    {"\ufeff" + `{"settings": {}}`, 400, wire.CodeInvalidJSON},
			"a comment":            {`{"settings": {} /* all */}`, 400, wire.CodeInvalidJSON},
			"too deep":             {`{"settings": ` + deep + `}`, 413, wire.CodeTooLarge},
			"far too deep":         {`{"settings": {"a": ` + veryDeep + `}}`, 400, wire.CodeInvalidJSON},
			"the body is not JSON": {`settings`, 400, wire.CodeInvalidJSON},
		} {
			if a := hub.as("alice").put(clientCfg, c.body); a.status != c.status {
				t.Errorf("%s: status %d, want %d: %s", name, a.status, c.status, a.body)
			} else {
				a.problem(c.status, c.code)
			}
		}
		if now := hub.as("alice").get(config).etag(); now != etag {
			t.Errorf("the config changed from %s to %s", etag, now)
		}
	})
}

func TestPutConfig_UnusualValuesRoundTrip(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for _, value := range []string{
			`-0`, `1e400`, `9007199254740993`, `0.10`, `"\u0000"`, `"\u2028<\/script>"`, `"é"`, `""`, `{}`, `[]`,
			`[[{"a":{"b":1}}]]`, `null`, `"` + strings.Repeat("x", 100_000) + `"`,
		} {
			hub.settings(`{"": {"__proto__": ` + value + `}}`)
			c := decoded[wire.Config](hub.as("rita").get(config).want(200))
			if got, want := plainText(t, c.Config), plainText(t, jsontext.Value(`{".__proto__":`+value+`}`)); got != want {
				t.Errorf("%.200s came back as %.200s", want, got)
			}
		}
	})
}

// plainText writes v without white space, with every string in its shortest form
// and every number as it is written.
func plainText(t *testing.T, v jsontext.Value) string {
	t.Helper()
	v = v.Clone()
	if err := v.Format(); err != nil {
		t.Fatal(err)
	}
	return string(v)
}

func TestPutConfig_LimitIsNamed(t *testing.T) {
	smaller := func(cfg *hubserver.Config) {
		cfg.Limits.ConfigBytes, cfg.Limits.ConfigKeys, cfg.Limits.ConfigDepth = 1000, 10, 4
	}
	eachWith(t, smaller, func(t *testing.T, hub *testHub) {
		hub.project()
		keys := func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, `"k%d":0,`, i)
			}
			return "{" + strings.TrimSuffix(b.String(), ",") + "}"
		}
		long := func(n int) string { return `{"a":"` + strings.Repeat("x", n-len(`{"a":""}`)) + `"}` }
		for _, c := range []struct{ at, above, limit string }{
			{keys(10), keys(11), "10"},
			{long(1000), long(1001), "1000"},
			{`{"a":{"b":{"c":[1]}}}`, `{"a":{"b":{"c":[[1]]}}}`, "4"},
			{`{"a":1}`, long(100_000), "66536"}, // the body itself
		} {
			etag := hub.settings(c.at)
			p := hub.as("alice").put(clientCfg, `{"settings": `+c.above+`}`).problem(413, wire.CodeTooLarge)
			if !strings.Contains(p.Detail, c.limit) {
				t.Errorf("%.40s…: %q does not name %s", c.above, p.Detail, c.limit)
			}
			if now := hub.as("alice").get(config).etag(); now != etag {
				t.Errorf("%.40s… changed the config", c.above)
			}
		}
		etag := hub.settings(keys(10))
		hub.as("alice").patch(config, `{"set": {"one more": 1}}`, header{"If-Match": etag}).problem(413, wire.CodeTooLarge)
	})
}

// A credential that everyone could read does not become public, on whatever way.
func TestConfig_CredentialsDoNotBecomePublic(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
		withToken := `{"settings": {"api": {"k/1": "` + token + `"}, "title": "Pets"}}`
		harmless := `{"settings": {"api": {"k/1": {"$secret": "API_KEY"}}, "title": "Pets"}}`
		refused := func(a *answer) {
			t.Helper()
			p := a.problem(422, wire.CodeSecretFound)
			if len(p.Errors) != 1 || p.Errors[0].Pointer != "/api/k~11" || bytes.Contains(a.body, []byte(token)) {
				t.Errorf("%s", a.body)
			}
		}

		// In a private project it is a finding.
		written := alice.put(clientCfg, withToken).want(200)
		findings := decoded[wire.ConfigWritten](written).Findings
		want := wire.FieldError{
			Pointer: "/api/k~11", Keyword: wire.KeywordCredential,
			Detail: "this looks like a GitHub token: everyone who can read the project can read it",
		}
		if len(findings) != 1 || findings[0].Detail != want.Detail || findings[0].Pointer != want.Pointer ||
			findings[0].Keyword != want.Keyword {
			t.Errorf("%+v", findings)
		}
		refused(alice.patch(web, `{"visibility": "public"}`))
		refused(alice.post("/v1/projects",
			`{"account": "acme", "slug": "copy", "copyOf": {"account": "acme", "slug": "web"}, "visibility": "public"}`))
		alice.get("/v1/projects/acme/copy").problem(404, wire.CodeNotFound)
		former := decoded[wire.ConfigWritten](written).Revision

		// A reference is none.
		if w := decoded[wire.ConfigWritten](alice.put(clientCfg, harmless).want(200)); w.Findings != nil {
			t.Errorf("%+v", w.Findings)
		}
		alice.patch(web, `{"visibility": "public"}`).want(200)
		now := alice.get(web + "/config").want(200)
		ifMatch := header{"If-Match": now.header.Get("ETag")}
		refused(alice.put(clientCfg, withToken))
		refused(alice.post(clientCfg+"?dryRun=1", withToken))
		refused(alice.patch(web+"/config", `{"set": {"api.k/1": "`+token+`"}}`, ifMatch))
		refused(alice.post(web+"/config/restore", `{"revision": "`+former+`"}`, ifMatch))
		if after := alice.get(web + "/config").want(200); !bytes.Equal(after.body, now.body) {
			t.Errorf("%s", after.body)
		}
	})
}

// A credential is not written while another request makes the project public.
func TestConfig_CredentialIsNotWrittenWhileItBecomesPublic(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.settings(`{"title": "x"}`)
		var wrote sync.WaitGroup
		hub.write(func(tx *store.Tx) error {
			p, err := tx.LockProject(hub.resource("acme", store.KindProject, "web"))
			if err != nil {
				return err
			}
			wrote.Go(func() {
				a, err := hub.as("alice").try("PUT", clientCfg, `{"settings": {"key": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}}`)
				if err != nil || a.status == 200 {
					t.Errorf("%v, %d %s", err, a.status, a.body)
				}
			})
			hub.awaitLock()
			p.Visibility = "public"
			return tx.EditProject(p)
		})
		wrote.Wait()
		if body := hub.with("").get(config).want(200).body; strings.Contains(string(body), "ghp_") {
			t.Errorf("everyone reads %s", body)
		}
	})
}
