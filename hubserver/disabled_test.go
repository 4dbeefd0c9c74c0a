package hubserver_test

import (
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func TestDisabledAccount_HidesItsPublicProjects(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.publicProject("open")
		const project = "/v1/projects/acme/open"
		shown := func(want bool) {
			t.Helper()
			anonymous, denied, page := 200, 200, 200
			if !want {
				anonymous, denied, page = 401, 403, 404
			}
			for _, path := range []string{project, project + "/config"} {
				hub.with("").get(path).want(anonymous)
				hub.as("sam").get(path).want(denied)
			}
			hub.with("").get("/@acme/open").want(page)
			list := decoded[wire.Projects](hub.as("sam").get("/v1/projects?account=acme").want(200))
			if got := len(list.Projects) > 0; got != want {
				t.Errorf("a stranger's list shows it: %v, want %v", got, want)
			}
			if !want {
				hub.as("alice").get(project).want(403)
			}
		}
		change := func(f func(tx *store.Tx) (bool, error)) {
			hub.write(func(tx *store.Tx) error {
				changed, err := f(tx)
				if !changed {
					t.Error("nothing was changed")
				}
				return err
			})
		}
		shown(true)
		change(func(tx *store.Tx) (bool, error) { return tx.SetDisabled("acme", true) })
		shown(false)
		change(func(tx *store.Tx) (bool, error) { return tx.SetDisabled("acme", false) })
		shown(true)
	})
}

func TestLog_ClipsLongPathsAndNamesTheAddress(t *testing.T) {
	hub := one(t, nil)
	hub.log.reset()
	secret := hub.token("sam")
	hub.with("").get("/v1/" + strings.Repeat("a", 2040) + "/" + secret + strings.Repeat("b", 9000)).want(404)
	hub.with("").get("/healthz") // on the same connection, so after the line for the request before
	l := hub.log.lines(t)[0]
	path := l["path"].(string)
	if len(path) > 2<<10 || !strings.HasPrefix(path, "/v1/aaa") || !strings.HasSuffix(path, "…") {
		t.Errorf("the path has %d bytes: %.20s…%s", len(path), path, path[len(path)-20:])
	}
	if l["address"] != "127.0.0.1" {
		t.Errorf("the address is %v", l["address"])
	}
}

func TestAudit_NamesTheAddress(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		if n := hub.count("SELECT count(*) FROM audit WHERE address <> '127.0.0.1'"); n != 0 ||
			hub.count("SELECT count(*) FROM audit") == 0 {
			t.Errorf("%d rows do not name the caller's address", n)
		}
	})
}
