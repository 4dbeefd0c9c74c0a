package request_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// The rights with which a request came may be gone when it writes.
func TestWrite_ChecksRightsAgain(t *testing.T) {
	each(t, func(f *fixture) {
		meanwhile, ran := "", false
		f.handle(wire.OpEditProject, func(c *request.Call) error {
			if err := c.NeedResource(); err != nil {
				return err
			}
			pets := store.AccessQuery{Account: "acme", Kind: store.KindAPI, Slug: "pets"}
			if _, err := c.Permit(pets, wire.Reader, ""); err != nil {
				return err
			}
			f.exec(meanwhile)
			return c.Write(func(*store.Tx) (request.Done, error) {
				ran = true
				return request.Done{}, nil
			})
		})
		for _, c := range []struct {
			meanwhile, undo string
			status          int
			code            wire.Code
			detail          string
		}{
			{"UPDATE tokens SET revoked_at = 1 WHERE name = 'anna'", "UPDATE tokens SET revoked_at = 0",
				401, wire.CodeTokenRevoked, ""},
			{"UPDATE tokens SET expires_at = 1 WHERE name = 'anna'", "UPDATE tokens SET expires_at = 0",
				401, wire.CodeTokenExpired, "the token expired on 1 January 1970"},
			{"UPDATE accounts SET disabled_at = 1 WHERE name = 'anna'", "UPDATE accounts SET disabled_at = 0",
				401, wire.CodeUnauthorized, "the account anna is disabled"},
			{"UPDATE members SET role = 'reader' WHERE user_id = 2", "UPDATE members SET role = 'admin' WHERE user_id = 2",
				403, wire.CodeNotPermitted, "is a reader in acme; only writers and admins can do this"},
			{"UPDATE resources SET deleted_at = 1 WHERE id = 10", "UPDATE resources SET deleted_at = 0",
				404, wire.CodeNotFound, "there is no project @acme/web"},
			{"UPDATE resources SET deleted_at = 1 WHERE id = 13", "UPDATE resources SET deleted_at = 0",
				404, wire.CodeNotFound, "there is no API @acme/pets"},
			{"UPDATE resources SET slug = 'x' WHERE id = 10; UPDATE resources SET slug = 'web' WHERE id = 11",
				"UPDATE resources SET slug = 'open' WHERE id = 11; UPDATE resources SET slug = 'web' WHERE id = 10",
				409, wire.CodePlanOutdated, "@acme/web is another project now"},
			{"UPDATE members SET role = 'writer' WHERE user_id = 2", "UPDATE members SET role = 'admin' WHERE user_id = 2",
				500, wire.CodeInternal, ""}, // the handler has not answered
		} {
			meanwhile, ran = c.meanwhile, false
			w := f.send("anna", "PATCH", "/v1/projects/acme/web", "{}")
			if f.exec(c.undo); ran != (c.status == 500) {
				f.Errorf("%s: it wrote: %v", c.meanwhile, ran)
			}
			if !ran {
				f.want(w, c.status, c.code, c.detail)
			}
		}
	})
}

func TestWrite_AuditRowsBelongToTheWrite(t *testing.T) {
	each(t, func(f *fixture) {
		var result error
		f.handle(wire.OpEditProject, func(c *request.Call) error {
			return c.Write(func(*store.Tx) (request.Done, error) {
				done := request.Done{Account: "acme", Action: "project.edit", Object: "@acme/web", Detail: "x"}
				done.Also = []request.Done{{Account: "anna", Action: "also"}, {}}
				done.Reply = &request.Reply{Status: http.StatusOK, Body: map[string]any{}}
				return done, result
			})
		})
		result = errors.New("no")
		f.send("anna", "PATCH", "/v1/projects/acme/web", "{}")
		result = nil
		w := f.send("anna", "PATCH", "/v1/projects/acme/web", "{}")
		f.want(w, 200, "", "")
		rows, err := f.store.View(f.Context()).AuditRows(store.AuditFilter{Limit: 9})
		if err != nil || len(rows) != 2 || rows[0].Account != "anna" {
			f.Fatalf("%+v, %v", rows, err)
		}
		want := store.AuditRow{
			ID: rows[1].ID, At: rows[1].At, Account: "acme", Actor: "anna", Token: f.tokens["anna"][:12], Action: "project.edit",
			Object: "@acme/web", Detail: "x", RequestID: w.Header().Get("X-Request-Id"), Address: "192.0.2.1",
		}
		if rows[1] != want {
			f.Errorf("got %+v, want %+v", rows[1], want)
		}
	})
}

func TestWrite_FirstAnswerToAKeyIsRepeated(t *testing.T) {
	each(t, func(f *fixture) {
		created := 0
		f.handle(wire.OpCreateProject, func(c *request.Call) error {
			var req wire.CreateProject
			if _, err := c.ReadJSON("the body", request.MaxJSON, &req); err != nil {
				return err
			}
			if _, err := c.Permit(store.AccessQuery{Account: req.Account}, wire.Writer, wire.ScopeWriteCatalog); err != nil {
				return err
			}
			if req.Slug == "asked" {
				if done, err := c.Repeated(); done || err != nil {
					return err
				}
			}
			return c.Write(func(tx *store.Tx) (request.Done, error) {
				id, err := tx.AddResource(1, store.KindProject, req.Slug, "anna")
				if errors.Is(err, store.ErrExists) {
					err = request.Problemf(http.StatusConflict, wire.CodeProjectExists, "it exists")
				}
				if err == nil {
					created++
				}
				done := request.Done{Account: "acme", Action: "project.create", ResourceID: id}
				done.Reply = &request.Reply{Status: 201, Location: "/v1/projects/acme/" + req.Slug}
				done.Reply.Body = map[string]int64{"id": id}
				return done, err
			})
		})
		create := func(who, slug, key string) (status int, body string) {
			w := f.send(who, "POST", "/v1/projects", `{"account":"acme","slug":"`+slug+`"}`, "Idempotency-Key", key)
			if location := w.Header().Get("Location"); w.Code == 201 && location != "/v1/projects/acme/"+slug {
				f.Errorf("Location: %s", location)
			}
			return w.Code, w.Body.String()
		}
		for _, slug := range []string{"new", "asked"} {
			created = 0
			status, first := create("anna", slug, slug)
			again, second := create("anna", slug, slug)
			if status != 201 || again != 201 || first != second || created != 1 {
				f.Errorf("%s: %d %s, again %d %s; %d were created", slug, status, first, again, second, created)
			}
		}
		for _, c := range []struct {
			name, who, slug, key string
			status               int
			detail               string
		}{
			{"another body", "anna", "other", "new", 422, "was used with another body"},
			{"another key", "anna", "new", "key", 409, "it exists"},
			{"a refusal is computed again", "anna", "new", "key", 409, "it exists"},
			{"another caller", "ci", "new", "new", 409, "it exists"},
			{"no key", "anna", "new", "", 409, "it exists"},
			{"a key with a space", "anna", "new", "a b", 422, "printable ASCII"},
			{"a long key", "anna", "new", strings.Repeat("k", 256), 422, "printable ASCII"},
		} {
			if status, body := create(c.who, c.slug, c.key); status != c.status || !strings.Contains(body, c.detail) {
				f.Errorf("%s: %d %s", c.name, status, body)
			}
		}
		f.exec("UPDATE members SET role = 'reader' WHERE user_id = 2")
		if status, body := create("anna", "new", "new"); status != 403 {
			f.Errorf("without rights: %d %s", status, body)
		}
		f.exec("UPDATE members SET role = 'writer' WHERE user_id = 2")
		f.exec("UPDATE resources SET deleted_at = 1 WHERE slug = 'new'")
		created = 0
		if status, body := create("anna", "new", "new"); status != 201 || created != 1 {
			f.Errorf("after the deletion: %d %s; %d were created", status, body, created)
		}
		if n := f.count("SELECT COUNT(*) FROM audit"); n != 3 {
			f.Errorf("%d rows are in the audit log", n)
		}
	})
}
