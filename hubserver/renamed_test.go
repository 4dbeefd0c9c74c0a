package hubserver_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// A private name is told only to those who may read the project with the token that they send.
func TestRenameProject_PresentNameIsForReaders(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice, anna := hub.as("alice"), hub.as("anna")
		alice.post("/v1/projects", newProject("other")).want(201)
		_, restricted := alice.create(wire.CreateToken{
			Name: "ci", Scopes: []wire.Scope{wire.ScopeWriteConfig, wire.ScopeAdminResource},
			Restriction: onlyProject("acme", "other"),
		})
		_, elsewhere := alice.create(wire.CreateToken{
			Name: "own", Scopes: []wire.Scope{wire.ScopeWriteConfig}, Restriction: wire.Restriction{Account: "alice"},
		})
		anna.patch(web, `{"slug": "merger-with-initech"}`).want(200)
		for name, stranger := range map[string]*caller{
			"restricted to another project": restricted, "restricted to another account": elsewhere,
			"bot of a member": hub.bot("alice", "ci", wire.Scopes...), "nobody": hub.with(""), "sam": hub.as("sam"),
		} {
			for _, a := range []*answer{
				stranger.get(web), stranger.get(web + "/events"), stranger.get("/@acme/web"),
				stranger.put(clientCfg, `{"settings": {}}`), stranger.delete(web),
				stranger.post("/v1/projects", `{"account": "acme", "slug": "copy", "copyOf": {"account": "acme", "slug": "web"}}`),
			} {
				said := fmt.Sprint(a.header) + string(a.body)
				if strings.Contains(said, "initech") || a.status < 400 {
					t.Errorf("%s: %s: %d %s", name, a.call, a.status, said)
				}
			}
		}
	})
}

// Of two renames at once, the second is sent again.
func TestRenameProject_TwoAtOnce(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		anna := hub.as("anna")
		var second sync.WaitGroup
		hub.write(func(tx *store.Tx) error {
			p, err := tx.LockProject(hub.resource("acme", store.KindProject, "web"))
			if err != nil {
				return err
			}
			second.Go(func() {
				a, err := anna.try("PATCH", web, `{"slug": "store"}`)
				if err == nil && a.status == 503 && a.header.Get("Retry-After") != "" {
					a, err = anna.try("PATCH", web, `{"slug": "store"}`)
				}
				if err != nil || a.status != 200 {
					t.Errorf("%v, %d %s", err, a.status, a.body)
				}
			})
			hub.awaitLock()
			return tx.RenameProject(p.Resource, "shop")
		})
		second.Wait()
		anna.get("/v1/projects/acme/store").want(200)
		anna.get(shop).problem(308, wire.CodeRenamed)
		anna.get(web).problem(308, wire.CodeRenamed)
	})
}

// A write that runs during a rename finds the project. An edit is sent again: it may change the name, too.
func TestRenameProject_DuringAWrite(t *testing.T) {
	for call, send := range map[string]func(alice *caller) (*answer, error){
		"files": func(alice *caller) (*answer, error) {
			return alice.try("PUT", baseFiles, archive(t, file{name: "a", content: "x"}))
		},
		"config": func(alice *caller) (*answer, error) { return alice.try("PUT", clientCfg, `{"settings": {"x": 1}}`) },
		"edit":   func(alice *caller) (*answer, error) { return alice.try("PATCH", web, `{"visibility": "public"}`) },
		"delete": func(alice *caller) (*answer, error) { return alice.try("DELETE", web, nil) },
	} {
		t.Run(call, func(t *testing.T) {
			each(t, func(t *testing.T, hub *testHub) {
				hub.project()
				alice := hub.as("alice")
				var second sync.WaitGroup
				hub.write(func(tx *store.Tx) error {
					p, err := tx.LockProject(hub.resource("acme", store.KindProject, "web"))
					if err != nil {
						return err
					}
					second.Go(func() {
						a, err := send(alice)
						if call == "edit" && err == nil && a.status == 503 && a.header.Get("Retry-After") != "" {
							a, err = send(alice)
						}
						if err != nil || a.status != 200 || strings.Contains(string(a.body), `"existed":false`) {
							t.Errorf("%v, %d %s", err, a.status, a.body)
						}
					})
					hub.awaitLock()
					return tx.RenameProject(p.Resource, "shop")
				})
				second.Wait()
			})
		})
	}
}
