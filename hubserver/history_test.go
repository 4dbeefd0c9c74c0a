package hubserver_test

import (
	"html"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient/wire"
)

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

// number returns the number of the newest revision of the config.
func (h *testHub) number() string {
	h.Helper()
	entries := decoded[wire.ConfigHistory](h.as("rita").get(configHistory).want(200)).Entries
	return strconv.FormatInt(entries[0].Number, 10)
}

func TestHistoryPage_ShowsAndRestoresConfigs(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice, rita := hub.session("alice"), hub.session("rita")
		rita.get(historyTab).want(200).shows("No edits yet")
		const hostile = "<script>alert(1)</script>\u202e"
		hub.as("alice").put(clientCfg, `{"settings": {"a": 1, "b": "`+hostile+`"}}`).want(200)
		first, firstN := decoded[wire.Config](hub.as("alice").get(config)).Revision, hub.number()
		hub.as("anna").put(clientCfg, `{"settings": {"a": 2, "c": true}}`).want(200)
		second, secondN := decoded[wire.Config](hub.as("alice").get(config)).Revision, hub.number()

		list := rita.get(historyTab).want(200).shows("anna", "+1", "~1", "−1", "c, a, b</span>",
			"r"+secondN, "r"+firstN, second, first,
			time.Now().UTC().Format("Monday, 2 January 2006"), "tool log --project @acme/web")
		if n := strings.Count(string(list.body), `name="to"`); n != 2 {
			t.Errorf("%d rows", n)
		}
		reader := rita.get(historyTab+"?to="+firstN).want(200).shows("What it changed", `"`+`<script>alert(1)</script>\u202e`,
			"tool show "+first[:12]+" --project @acme/web")
		for _, text := range []string{"<script>alert", "tool restore", "data-method"} {
			if strings.Contains(string(reader.body), text) {
				t.Errorf("a reader sees %q in %s", text, reader.body)
			}
		}
		alice.get(historyTab+"?to="+firstN).want(200).shows("What restoring it would change", "Restore r"+firstN+"</button>",
			"tool restore "+first[:12]+" --project @acme/web", `data-action="/v1/projects/acme/web/config/restore"`,
			`data-if-match="`+second+`"`, `name="revision" value="`+first+`"`)
		alice.get(historyTab+"?from="+firstN+"&to="+secondN).want(200).shows("What changed since", "r"+firstN, "current")
		alice.get(historyTab+"?from="+secondN+"&to="+firstN).want(200).shows("What changed since", "r"+secondN)
		for _, absent := range []string{"to=9", "to=1", "to=x", "to=-1", "to=9223372036854775807", "from=9&to=" + firstN} {
			alice.get(historyTab + "?" + absent).want(404).shows("Not kept")
		}
		alice.get(historyTab + "?restored=1").want(200).shows("Restored.")
	})
}

func TestRestoreConfig_WritesAFormerConfig(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		first := strings.Trim(hub.settings(`{"a": 1.00}`), `"`)
		second := hub.settings(`{"a": 2}`)
		const path = config + "/restore"
		body := wire.RestoreConfig{Revision: first}
		alice := hub.session("alice")
		weak := hub.session("alice", wire.ScopeUseLimit)
		for _, who := range []*caller{hub.with(""), hub.session("rita"), hub.session("sam"), weak} {
			if status := who.post(path, body, header{"If-Match": second}).status; status != 401 && status != 403 {
				t.Errorf("status %d", status)
			}
		}
		alice.post(path, body).problem(428, wire.CodePreconditionRequired)
		alice.post(path, wire.RestoreConfig{Revision: "x"}, header{"If-Match": second}).problem(422, wire.CodeInvalidBody)
		never := wire.RestoreConfig{Revision: strings.Repeat("0", 64)}
		alice.post(path, never, header{"If-Match": second}).problem(404, wire.CodeRevisionNotKept)
		// Somebody writes before the restore is confirmed.
		third := hub.settings(`{"a": 3}`)
		if p := alice.post(path, body, header{"If-Match": second}).problem(412, wire.CodeRevisionChanged); p.Current == nil {
			t.Errorf("%+v", p)
		}
		written := decoded[wire.ConfigWritten](alice.post(path, body, header{"If-Match": third}).want(200))
		is, was := string(written.Config), string(written.Replaced.Config)
		if written.Revision != first || is != `{"a":1.00}` || was != `{"a":3}` {
			t.Errorf("%+v", written)
		}
		c := decoded[wire.Config](hub.as("alice").get(config))
		if c.Revision != first || c.UpdatedBy != "alice" || c.UpdatedVia != wire.ViaRestore {
			t.Errorf("%+v", c)
		}
	})
}

func TestHistoryPage_ShowsBaseFiles(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.session("alice")
		const files = historyTab + "?of=files"
		alice.get(files).want(200).shows("No edits yet")
		first := hub.pushFiles(file{name: "a", content: "alpha"}, file{name: "<i>", content: "beta"})
		second := hub.pushFiles(file{name: "a", content: "gamma"})
		alice.get(files).want(200).shows(first, second, "~1", "−1", "r3", "r2", "tool log --project @acme/web --base-files")
		alice.get(files+"&to=3").want(200).shows("What it changed", "<i>")
		alice.get(files+"&to=2").want(200).shows("What restoring it would change",
			"tool restore "+first[:12]+" --project @acme/web --base-files", `name="tree" value="`+first+`"`,
			`data-action="/v1/projects/acme/web/preview/base-files/restore"`, `data-if-match="`+second+`"`)
		alice.get(historyTab + "?to=2").want(404).shows("Not kept") // it is not one of the config
	})
}

func TestHistoryPage_OfPublicProjectIsForItsReaders(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.publicProject("open")
		put := func(settings string) {
			hub.as("alice").put("/v1/projects/acme/open/client-config", `{"settings": `+settings+`}`).want(200)
		}
		put(`{"key": "hunter2"}`)
		history := hub.as("rita").get("/v1/projects/acme/open/config/history").want(200)
		n := strconv.FormatInt(decoded[wire.ConfigHistory](history).Entries[0].Number, 10)
		put(`{"key": "gone"}`)
		for _, who := range []*caller{hub.with(""), hub.session("sam")} {
			for _, path := range []string{"/@acme/open/history", "/@acme/open/history?to=" + n, "/@acme/open/history?of=files"} {
				a := who.get(path).want(200).shows("The history is for people with a role on @acme")
				if strings.Contains(string(a.body), "hunter2") {
					t.Errorf("%s shows %s", path, a.body)
				}
			}
		}
		hub.session("rita").get("/@acme/open/history?to=" + n).want(200).shows("hunter2")
	})
}
