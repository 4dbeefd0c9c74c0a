package hubserver_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

const configHistory = config + "/history"

func TestConfigHistory_SaysWhoChangedWhat(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		if page := decoded[wire.ConfigHistory](hub.as("rita").get(configHistory).want(200)); len(page.Entries) != 0 {
			t.Errorf("a config that was never written has entries: %+v", page.Entries)
		}
		first := hub.as("alice").put(clientCfg, `{"settings": {"a": 1, "b": {"c": true}}}`).want(200)
		hub.as("alice").put(clientCfg, `{"settings": {"a": 1, "b": {"c": true}}}`).want(200) // changes nothing
		second := hub.as("anna").patch(config, `{"set": {"a": 2, "d": 3}, "remove": ["b.c"]}`,
			header{"If-Match": first.etag()}).want(200)
		page := decoded[wire.ConfigHistory](hub.as("rita").get(configHistory).want(200))
		if len(page.Entries) != 2 || page.NextCursor != "" {
			t.Fatalf("%+v", page)
		}
		newest, oldest := page.Entries[0], page.Entries[1]
		want := decoded[wire.Config](hub.as("rita").get(config).want(200))
		if newest.Edit != want.Edit || newest.UpdatedBy != "anna" || newest.UpdatedVia != wire.ViaAPI ||
			newest.TokenName != "test" {
			t.Errorf("the newest entry is %+v, the config's %+v", newest, want.Edit)
		}
		if newest.Parent != oldest.Revision || newest.Added != 1 || newest.Changed != 1 || newest.Removed != 1 {
			t.Errorf("the newest entry is %+v", newest)
		}
		keys := wire.Names{Added: []string{"d"}, Changed: []string{"a"}, Removed: []string{"b.c"}}
		if !cmp.Equal(newest.Keys, keys) {
			t.Errorf("the newest entry changed %+v", newest.Keys)
		}
		if oldest.Parent != "" || oldest.Added != 2 || oldest.UpdatedVia != wire.ViaPush ||
			oldest.RequestID != first.header.Get("X-Request-Id") {
			t.Errorf("the oldest entry is %+v", oldest)
		}
		was := hub.as("rita").get(config + "?revision=" + oldest.Revision).want(200)
		if got := decoded[wire.Config](was); string(got.Config) != `{"a":1,"b.c":true}` || got.Edit != oldest.Edit ||
			was.etag() != first.etag() {
			t.Errorf("the config was %s, %+v", got.Config, got)
		}
		hub.as("rita").get(config+"?revision="+oldest.Revision, header{"If-None-Match": first.etag()}).want(304)
		if now := hub.as("rita").get(config + "?revision=" + newest.Revision).want(200); now.etag() != second.etag() {
			t.Errorf("the present revision has the ETag %s", now.etag())
		}
	})
}

func TestConfigHistory_NamesTheFirstOfManyKeys(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		set := map[string]int{}
		for i := range 200 {
			set[fmt.Sprintf("%s%03d", strings.Repeat("k", 37), i)] = i
		}
		revision := hub.as("alice").get(config).etag()
		hub.as("alice").patch(config, map[string]any{"set": set}, header{"If-Match": revision}).want(200)
		e := decoded[wire.ConfigHistory](hub.as("rita").get(configHistory).want(200)).Entries[0]
		if e.Added != 200 || len(e.Keys.Added) != 4096/40 || len(e.Keys.Changed)+len(e.Keys.Removed) != 0 {
			t.Errorf("%d keys are added, of which %d are named", e.Added, len(e.Keys.Added))
		}
	})
}

func TestHistory_ShowsMessages(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice, why := hub.as("alice"), "?message="+url.QueryEscape("warmer – as asked")
		alice.put(clientCfg+why, `{"settings": {"a": 1}}`).want(200)
		alice.patch(config+why, `{"set": {"a": 2}}`, header{"If-Match": "*"}).want(200)
		alice.patch(config, `{"set": {"a": 3}}`, header{"If-Match": "*"}).want(200)
		alice.put(baseFiles+why, archive(hub, file{name: "a", content: "beta"})).want(200)
		var messages []string
		for _, e := range decoded[wire.ConfigHistory](alice.get(configHistory).want(200)).Entries {
			messages = append(messages, e.Message)
		}
		messages = append(messages, decoded[wire.BaseFilesHistory](
			alice.get(baseFiles + "/history").want(200)).Entries[0].Message)
		want := []string{"", "warmer – as asked", "warmer – as asked", "warmer – as asked"}
		if diff := cmp.Diff(want, messages); diff != "" {
			t.Error(diff)
		}
		for _, query := range []string{"?message=a%0Ab", "?message=%1b[1m"} {
			alice.put(clientCfg+query, `{"settings": {"a": 4}}`).problem(422, wire.CodeInvalidBody)
			alice.patch(config+query, `{"set": {"a": 4}}`, header{"If-Match": "*"}).problem(422, wire.CodeInvalidBody)
		}
		message := "?message=" + strings.Repeat("%C3%A4", 1000)
		alice.put(clientCfg+message, `{"settings": {"a": 4}}`).want(200)
		alice.put(clientCfg+message+"b", `{"settings": {"a": 5}}`).problem(422, wire.CodeMessageTooLong)
		alice.put(baseFiles+message+"b", archive(t)).problem(422, wire.CodeMessageTooLong)
	})
}

func TestConfigHistory_ShowsARestoreAsOne(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		first, second := hub.settings(`{"a": 1}`), hub.settings(`{"a": 2}`)
		hub.as("anna").put(clientCfg+"?restore=1", `{"settings": {"a": 1}}`, header{"If-Match": second}).want(200)
		if c := decoded[wire.Config](hub.as("rita").get(config).want(200)); c.UpdatedVia != wire.ViaRestore ||
			c.UpdatedBy != "anna" || `"`+c.Revision+`"` != first {
			t.Errorf("%+v", c)
		}
		newest := decoded[wire.ConfigHistory](hub.as("rita").get(configHistory).want(200)).Entries[0]
		if newest.UpdatedVia != wire.ViaRestore || newest.Changed != 1 {
			t.Errorf("%+v", newest)
		}
		hub.as("anna").put(clientCfg+"?restore=yes", `{"settings": {"a": 3}}`).problem(422, wire.CodeInvalidBody)
	})
}

func TestConfigHistory_HasPages(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for i := range 7 {
			hub.settings(fmt.Sprintf(`{"a": %d}`, i))
		}
		var got []string
		cursor := ""
		for range 4 {
			page := decoded[wire.ConfigHistory](hub.as("rita").get(configHistory + "?limit=2&cursor=" + cursor).want(200))
			for _, e := range page.Entries {
				got = append(got, e.Revision)
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		if len(got) != 7 || cursor != "" {
			t.Errorf("the pages have %d entries, want 7; the last cursor is %q", len(got), cursor)
		}
		for _, bad := range []string{"limit=0", "limit=201", "limit=x", "cursor=0", "cursor=-1", "cursor=x",
			"cursor=99999999999999999999"} {
			hub.as("rita").get(configHistory+"?"+bad).problem(422, wire.CodeInvalidBody)
		}
	})
}

func TestConfigRevision_NotKept(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.settings(`{"a": 1}`)
		never := strings.Repeat("0", 64)
		hub.as("rita").get(config+"?revision="+never).problem(404, wire.CodeRevisionNotKept)
		hub.as("rita").get("/v1/projects/acme/none/config?revision="+never).problem(404, wire.CodeNotFound)
		for _, bad := range []string{"", "abc", strings.Repeat("A", 64), never + "0"} {
			hub.as("rita").get(config+"?revision="+bad).problem(422, wire.CodeInvalidBody)
		}
		// Another project's revision is none of this one.
		other := newProject("other")
		hub.as("alice").post("/v1/projects", other).want(201)
		mine := decoded[wire.Config](hub.as("rita").get(config)).Revision
		hub.as("rita").get("/v1/projects/acme/other/config?revision="+mine).problem(404, wire.CodeRevisionNotKept)
	})
}

// A secret that was removed from a config before its project became public stays private.
func TestConfigHistory_OfPublicProjectIsForItsReaders(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.publicProject("open")
		path := "/v1/projects/acme/open"
		secret := hub.as("alice").put(path+"/client-config", `{"settings": {"secret": "x"}}`).want(200)
		hub.as("alice").put(path+"/client-config", `{"settings": {}}`).want(200)
		former := path + "/config?revision=" + strings.Trim(secret.etag(), `"`)
		for _, url := range []string{path + "/config/history", former} {
			hub.with("").get(url).problem(401, wire.CodeUnauthorized)
			hub.as("sam").get(url).problem(403, wire.CodeNotPermitted)
			hub.as("rita").get(url).want(200)
		}
		hub.with("").get(path + "/config").want(200)
	})
}

func TestConfigHistory_EndsWithItsProject(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.settings(`{"a": 1}`)
		was := decoded[wire.Config](hub.as("rita").get(config)).Revision
		hub.as("anna").delete(web).want(200)
		hub.purge()
		hub.as("alice").post("/v1/projects", newProject("web")).want(201)
		hub.as("rita").get(config+"?revision="+was).problem(404, wire.CodeRevisionNotKept)
		if page := decoded[wire.ConfigHistory](hub.as("rita").get(configHistory)); len(page.Entries) != 0 {
			t.Errorf("a new project has the history of the deleted one: %+v", page.Entries)
		}
	})
}

func TestConfigHistory_SurvivesPruning(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.store.Retention = store.Retention{Revisions: 1, Bytes: 1 << 20}
		hub.project()
		for i := range 3 {
			hub.settings(fmt.Sprintf(`{"a": %d}`, i))
		}
		page := decoded[wire.ConfigHistory](hub.as("rita").get(configHistory).want(200))
		if len(page.Entries) != 1 {
			t.Fatalf("%+v", page)
		}
		hub.as("rita").get(config+"?revision="+page.Entries[0].Parent).problem(404, wire.CodeRevisionNotKept)
		hub.as("rita").get(config + "?revision=" + page.Entries[0].Revision).want(200)
	})
}
