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
		if string(w.Config) != `{"a":2}` || !w.OverwroteExistingConfig || w.Replaced == nil || string(w.Replaced.Config) != `{"a":1}` {
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
