package hubserver_test

import (
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func TestWithdrawnVersion_IsKeptAndNoted(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		alice.put(site+"/versions/1.1.0", bundle(t, "1.1.0")).want(201)
		alice.patch(web, `{"stackVersion": "1.1.0"}`).want(200)
		if w := decoded[wire.ConfigWritten](
			alice.put(clientCfg, `{"settings": {"a": 1}}`).want(200)); w.UseStackVersion != "" {
			t.Errorf("use %q", w.UseStackVersion)
		}
		hub.write(func(tx *store.Tx) error {
			_, _, err := tx.WithdrawVersion(hub.resource("acme", store.KindStack, "site"), "1.1.0", false)
			return err
		})
		p := decoded[wire.Project](alice.get(web).want(200))
		if p.StackVersion != "1.1.0" || p.ResolvedStackVersion != "1.1.0" || p.UseStackVersion != "1.0.0" {
			t.Errorf("%+v", p)
		}
		if w := decoded[wire.ConfigWritten](
			alice.put(clientCfg, `{"settings": {"a": 2}}`).want(200)); w.UseStackVersion != "1.0.0" ||
			w.StackVersion != "1.1.0" {
			t.Errorf("use %q instead of %q", w.UseStackVersion, w.StackVersion)
		}
		alice.get(site + "/versions/1.1.0/bundle").want(200)
		s := decoded[wire.Stack](alice.get(site).want(200))
		if s.Latest != "1.0.0" || s.Versions[0].WithdrawnAt.IsZero() || !s.Versions[1].WithdrawnAt.IsZero() {
			t.Errorf("%+v", s)
		}
		if p := alice.put(site+"/versions/1.1.0", bundle(t, "1.1.0")).problem(409, wire.CodeVersionExists); !strings.Contains(
			p.Detail, "was withdrawn") {
			t.Errorf("%+v", p)
		}
		hub.sql("UPDATE projects SET visibility = 'public'")
		if page := string(hub.with("").get("/@acme/web").want(200).body); !strings.Contains(page, "withdrawn: use 1.0.0") {
			t.Error("the page says nothing")
		}
	})
}
