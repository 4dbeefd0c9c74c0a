package hubserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

const drafts = web + "/drafts"

// draftBody is a draft that changes two keys.
const draftBody = `{"base": "` + store.NoConfig + `", "set": {"title": "New"}, "remove": ["old"]}`

func TestDrafts_AreReadByMembersWhoHaveTheID(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.publicProject("shop")
		before := hub.as("alice").get(config).want(200).etag()
		created := decoded[wire.CreatedDraft](hub.as("rita").post(drafts, draftBody).want(201))
		if life := time.Until(created.ExpiresAt); len(created.ID) != 43 || life < 167*time.Hour || life > 168*time.Hour {
			t.Errorf("%+v", created)
		}
		if n := hub.count("SELECT count(*) FROM drafts WHERE hash = '" + created.ID + "'"); n != 0 {
			t.Error("the ID is stored")
		}
		draft := decoded[wire.Draft](hub.as("alice").get(drafts + "/" + created.ID).want(200))
		if string(draft.Set) != `{"title":"New"}` || fmt.Sprint(draft.Remove) != "[old]" || draft.Base != store.NoConfig ||
			draft.CreatedBy != "rita" || !draft.ExpiresAt.Equal(created.ExpiresAt) {
			t.Errorf("%+v", draft)
		}
		if now := hub.as("alice").get(config).want(200).etag(); now != before {
			t.Error("the draft changed the config")
		}

		hub.as("alice").get(drafts+"/"+created.ID[1:]+"x").problem(404, wire.CodeNotFound)
		hub.as("sam").get(drafts+"/"+created.ID).problem(403, wire.CodeNotPermitted)
		hub.as("alice").get("/v1/projects/acme/shop/drafts/"+created.ID).problem(404, wire.CodeNotFound)
		shop := "/v1/projects/acme/shop/drafts"
		public := decoded[wire.CreatedDraft](hub.as("alice").post(shop, draftBody).want(201))
		hub.with("").get(shop+"/"+public.ID).problem(401, wire.CodeUnauthorized)
		hub.as("sam").get(shop+"/"+public.ID).problem(403, wire.CodeNotPermitted)
		hub.with(hub.token("rita")).post(drafts, draftBody).problem(403, wire.CodeMissingScope)

		hub.sql("UPDATE drafts SET expires_at = 1 WHERE created_by = 'rita'")
		hub.as("alice").get(drafts+"/"+created.ID).problem(404, wire.CodeNotFound)
		if pruned, err := hub.store.Prune(t.Context(), time.Hour, 0); pruned.Drafts != 1 || err != nil {
			t.Errorf("%+v, %v", pruned, err)
		}
		for _, existed := range []bool{true, false} {
			deleted := decoded[wire.DeletedDraft](hub.as("rita").delete(shop + "/" + public.ID).want(200))
			if deleted.Existed != existed {
				t.Errorf("%+v", deleted)
			}
		}
		audited := hub.count("SELECT count(*) FROM audit WHERE action IN ('draft.create', 'draft.delete')")
		if left := hub.count("SELECT count(*) FROM drafts"); left != 0 || audited != 3 {
			t.Errorf("%d drafts, %d rows of the audit log", left, audited)
		}
	})
}

func TestDrafts_AreLimited(t *testing.T) {
	limits := func(cfg *hubserver.Config) { cfg.Limits.ConfigBytes, cfg.Limits.ConfigKeys = 1000, 2 }
	eachWith(t, limits, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		oldest := decoded[wire.CreatedDraft](alice.post(drafts, draftBody).want(201))
		for range 50 {
			alice.post(drafts, draftBody).want(201)
		}
		alice.get(drafts+"/"+oldest.ID).problem(404, wire.CodeNotFound)
		if n := hub.count("SELECT count(*) FROM drafts"); n != 50 {
			t.Errorf("%d drafts", n)
		}
		for body, want := range map[string]outcome{
			`{"set": `:               {400, wire.CodeInvalidJSON},
			`{"set": {"a": 1}}`:      {422, wire.CodeInvalidBody},
			`{"base": "x"}`:          {422, wire.CodeInvalidBody},
			`{"base": "%s", "x": 1}`: {422, wire.CodeInvalidBody},
			`{"base": "%s", "set": {"a": 1, "a.b": 2}}`:                           {422, wire.CodeInvalidBody},
			`{"base": "%s", "set": {"a": 1, "b": 1, "c": 1}}`:                     {413, wire.CodeTooLarge},
			`{"base": "%s", "set": {"a": "` + strings.Repeat("x", 2000) + `"}}`:   {413, wire.CodeTooLarge},
			`{"base": "%s", "set": {"a": "` + strings.Repeat("x", 70<<10) + `"}}`: {413, wire.CodeTooLarge},
			`{"base": "%s", "remove": ["\\"]}`:                                    {422, wire.CodeInvalidBody},
		} {
			alice.post(drafts, strings.Replace(body, "%s", store.NoConfig, 1)).problem(want.status, want.code)
		}
		alice.post(drafts, typed{"text/plain", []byte(`{}`)}).problem(415, wire.CodeUnsupportedMediaType)
	})
}
