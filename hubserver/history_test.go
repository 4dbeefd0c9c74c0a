package hubserver_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
)

func init() {
	rows["POST /@{account}/{slug}/history"] = row{role: wire.Writer, scope: wire.ScopeWriteConfig, request: func(m *matrix) (string, any) {
		return "/@" + m.account + "/" + string(m.kind) + "/history", form("of", "config", "id", "none", "current", "none")
	}, there: ok(404), absent: ok(404)}
}

const historyTab = "/@acme/web/history"

// shows fails the test unless a page shows each text, as people read it.
func (a *answer) shows(texts ...string) *answer {
	a.t.Helper()
	shown := html.UnescapeString(string(a.body))
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			a.t.Errorf("%s does not show %q:\n%s", a.call, text, shown)
		}
	}
	return a
}

// hidden returns the fields of the form of a page.
func (a *answer) hidden() typed {
	var pairs []string
	for _, field := range regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`).FindAllStringSubmatch(string(a.body), -1) {
		pairs = append(pairs, field[1], field[2])
	}
	return form(pairs...)
}

func TestHistoryPage_ShowsAndRestoresConfigs(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice, rita := hub.session("alice"), hub.session("rita")
		rita.get(historyTab).want(200).shows("No edits yet")
		const hostile = "<script>alert(1)</script>\u202e"
		hub.as("alice").put(clientCfg, `{"settings": {"a": 1, "b": "`+hostile+`"}}`).want(200)
		first := decoded[wire.Config](hub.as("alice").get(config)).Revision
		hub.as("anna").put(clientCfg, `{"settings": {"a": 2, "c": true}}`).want(200)
		second := decoded[wire.Config](hub.as("alice").get(config)).Revision

		list := rita.get(historyTab).want(200).shows("anna", "+1 ~1 −1", second[:12], first[:12], "current", "tool log --project @acme/web")
		if n := strings.Count(string(list.body), "<tr>"); n != 3 {
			t.Errorf("%d rows", n)
		}
		reader := rita.get(historyTab+"?revision="+first).want(200).shows("What it changed", `"`+`<script>alert(1)</script>\u202e`, "tool show "+first[:12]+" --project @acme/web")
		if strings.Contains(string(reader.body), "<script>alert") || strings.Contains(string(reader.body), "tool restore") || strings.Contains(string(reader.body), "<form class=\"body\"") {
			t.Errorf("a reader sees %s", reader.body)
		}
		review := alice.get(historyTab+"?revision="+first).want(200).shows("What restoring it would change", "Restore</button>", "tool restore "+first[:12]+" --project @acme/web")
		alice.get(historyTab + "?revision=" + strings.Repeat("0", 64)).want(404).shows("Not kept")

		// Somebody writes before the restore is confirmed.
		hub.as("anna").put(clientCfg, `{"settings": {"a": 3}}`).want(200)
		again := alice.post(historyTab, review.hidden()).want(412).shows("Somebody changed the project meanwhile")
		if c := decoded[wire.Config](hub.as("alice").get(config)); string(c.Config) != `{"a":3}` {
			t.Errorf("the config is %s", c.Config)
		}
		done := alice.post(historyTab, again.hidden()).want(303)
		if to := done.header.Get("Location"); to != historyTab+"?restored=1" {
			t.Errorf("it leads to %s", to)
		}
		alice.get(historyTab + "?restored=1").want(200).shows("Restored.")
		c := decoded[wire.Config](hub.as("alice").get(config))
		if c.Revision != first || c.UpdatedBy != "alice" || c.UpdatedVia != wire.ViaRestore {
			t.Errorf("%+v", c)
		}
		for _, who := range []*caller{hub.with(""), rita, hub.session("sam"), hub.session("alice", wire.ScopeUseLimit)} {
			if status := who.post(historyTab, again.hidden()).status; status != 401 && status != 403 {
				t.Errorf("status %d", status)
			}
		}
	})
}

func TestHistoryPage_ShowsAndRestoresBaseFiles(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.session("alice")
		const files = historyTab + "?of=files"
		alice.get(files).want(200).shows("No edits yet")
		first := hub.pushFiles(file{name: "a", content: "alpha"}, file{name: "<i>", content: "beta"})
		second := hub.pushFiles(file{name: "a", content: "gamma"})
		alice.get(files).want(200).shows(first[:12], second[:12], "+0 ~1 −1", "tool log --project @acme/web --base-files")
		alice.get(files+"&tree="+second).want(200).shows("What it changed", "<i>")
		review := alice.get(files+"&tree="+first).want(200).shows("What restoring it would change", "tool restore "+first[:12]+" --project @acme/web --base-files")
		third := hub.pushFiles(file{name: "b", content: "gamma"})
		again := alice.post(historyTab, review.hidden()).want(412).shows("Somebody changed the project meanwhile")
		alice.post(historyTab, again.hidden()).want(303)
		entries := decoded[wire.BaseFilesHistory](hub.as("rita").get(baseFiles + "/history")).Entries
		if entries[0].Tree != first || entries[0].Parent != third || entries[0].UpdatedVia != wire.ViaRestore || entries[0].UpdatedBy != "alice" {
			t.Errorf("%+v", entries[0])
		}
		alice.get(files + "&tree=" + strings.Repeat("0", 64)).want(404).shows("Not kept")
	})
}

func TestHistoryPage_OfPublicProjectIsForItsReaders(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.publicProject("open")
		put := func(settings string) string {
			return strings.Trim(hub.as("alice").put("/v1/projects/acme/open/client-config", `{"settings": `+settings+`}`).want(200).etag(), `"`)
		}
		secret := put(`{"key": "hunter2"}`)
		put(`{"key": "gone"}`)
		for _, who := range []*caller{hub.with(""), hub.session("sam")} {
			for _, path := range []string{"/@acme/open/history", "/@acme/open/history?revision=" + secret, "/@acme/open/history?of=files"} {
				a := who.get(path).want(200).shows("The history is for people with a role on @acme")
				if strings.Contains(string(a.body), "hunter2") {
					t.Errorf("%s shows %s", path, a.body)
				}
			}
		}
		hub.session("rita").get("/@acme/open/history?revision=" + secret).want(200).shows("hunter2")
	})
}
