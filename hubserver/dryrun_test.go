package hubserver_test

import (
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
)

func TestCheckConfig_AnswersAsPutAndWritesNothing(t *testing.T) {
	two := func(cfg *hubserver.Config) { cfg.Limits.ConfigKeys = 2 }
	eachWith(t, two, func(t *testing.T, hub *testHub) {
		hub.project()
		old := hub.as("alice").put(clientCfg, `{"settings": {"a": 1}}`).want(200).etag()
		before := hub.written()
		alice, check := hub.as("alice"), clientCfg+"?dryRun=1"
		w := decoded[wire.ConfigWritten](alice.post(check, `{"settings": {"a": 2}}`, header{"If-Match": old}).want(200))
		if string(w.Config) != `{"a":2}` || !w.OverwroteExistingConfig || w.Replaced == nil ||
			string(w.Replaced.Config) != `{"a":1}` {
			t.Errorf("%+v", w)
		}
		alice.post(check, `{"settings": {"a": 1}}`).want(200)
		alice.post(check, `{}`).want(200)
		alice.post(check, `{"settings": {"a": 2}}`, header{"If-None-Match": "*"}).problem(412, wire.CodeRevisionChanged)
		alice.post(check, `{"settings": 1}`).problem(422, wire.CodeInvalidBody)
		alice.post(check, `{"settings": {"a": 2, "b": 3, "c": 4}}`).problem(413, wire.CodeTooLarge)
		alice.post(check, `{`).problem(400, wire.CodeInvalidJSON)
		alice.post(check, typed{"text/plain", []byte(`{"settings": {}}`)}).problem(415, wire.CodeUnsupportedMediaType)
		for _, query := range []string{"", "?dryRun=0", "?dryRun=", "?dryRun=true"} {
			alice.post(clientCfg+query, `{"settings": {"a": 2}}`).problem(422, wire.CodeInvalidBody)
		}
		if now := alice.get(config).want(200).etag(); now != old {
			t.Errorf("the revision is %s, not %s", now, old)
		}
		if after := hub.written(); after != before {
			t.Errorf("written:\n%s\nbefore:\n%s", after, before)
		}
	})
}

func TestPatchConfig_DryRunAnswersAsPatchAndWritesNothing(t *testing.T) {
	two := func(cfg *hubserver.Config) { cfg.Limits.ConfigKeys = 2 }
	eachWith(t, two, func(t *testing.T, hub *testHub) {
		hub.project()
		schema := schemaBundle(t, "9.0.0", `{"schema": "s.json"}`, file{name: "s.json", content: themeSchema})
		hub.as("alice").put(site+"/versions/9.0.0", schema).want(201)
		old := hub.settings(`{"color": "teal"}`)
		before := hub.written()
		alice, check, current := hub.as("alice"), config+"?dryRun=1", header{"If-Match": old}
		const change = `{"set": {"size": 1.5}, "remove": ["color"]}`

		a := alice.patch(check, change, current).want(200)
		w := decoded[wire.ConfigWritten](a)
		if string(w.Config) != `{"size":1.5}` || string(w.Replaced.Config) != `{"color":"teal"}` {
			t.Errorf("%+v", w)
		}
		if got := a.etag(); got != `"`+w.Revision+`"` || got == old {
			t.Errorf("the ETag is %s, the revision %s", got, w.Revision)
		}
		if len(w.Findings) != 1 || w.Findings[0].Pointer != "/size" {
			t.Errorf("findings %v, want one about /size", w.Findings)
		}
		alice.patch(check, change).problem(428, wire.CodePreconditionRequired)
		alice.patch(check, change, header{"If-Match": `"x"`}).problem(412, wire.CodeRevisionChanged)
		alice.patch(check, `{"set": {"color.a": 1}}`, current).problem(422, wire.CodeInvalidBody)
		alice.patch(check, `{"set": {"a": 1, "b": 1}}`, current).problem(413, wire.CodeTooLarge)
		alice.patch(config+"?dryRun=true", change, current).problem(422, wire.CodeInvalidBody)
		hub.as("rita").patch(check, change, current).problem(403, wire.CodeNotPermitted)
		if after := hub.written(); after != before {
			t.Errorf("written:\n%s\nbefore:\n%s", after, before)
		}
		if now := alice.get(config).want(200).etag(); now != old {
			t.Errorf("the revision is %s, not %s", now, old)
		}
		hub.as("anna").patch(web, `{"enforceSchema": true}`).want(200)
		alice.patch(check, change, current).problem(422, wire.CodeSettingsInvalid)
	})
}
