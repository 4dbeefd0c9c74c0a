package hubserver_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/hubclient/wire"
)

func (h *testHub) pushFiles(files ...file) string {
	h.Helper()
	return decoded[wire.BaseFilesWritten](h.as("alice").put(baseFiles, archive(h, files...)).want(200)).Tree
}

func (h *testHub) restore(tree, current string) *answer {
	h.Helper()
	return h.as("anna").post(baseFiles+"/restore", wire.RestoreBaseFiles{Tree: tree},
		header{"If-Match": `"` + current + `"`})
}

func TestBaseFilesHistory_ListsAndRestores(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		if h := decoded[wire.BaseFilesHistory](hub.as("rita").get(baseFiles + "/history").want(200)); len(h.Entries) != 0 {
			t.Errorf("%+v", h)
		}
		first := hub.pushFiles(file{name: "a", content: "alpha"}, file{name: "b", content: "beta"})
		second := hub.pushFiles(file{name: "a", content: "gamma"}, file{name: "c", content: "delta"})
		h := decoded[wire.BaseFilesHistory](hub.as("rita").get(baseFiles + "/history").want(200)).Entries
		if len(h) != 2 || h[0].Tree != second || h[0].Parent != first || h[1].Tree != first {
			t.Fatalf("%+v", h)
		}
		if e := h[0]; e.UpdatedBy != "alice" || e.UpdatedVia != wire.ViaPush || e.TokenName != "test" || e.Added != 1 ||
			e.Changed != 1 || e.Removed != 1 || e.Count != 2 || e.Bytes != 10 ||
			fmt.Sprint(e.Paths) != "{[c] [a] [b]}" {
			t.Errorf("%+v", e)
		}
		if n := hub.collect("web", -time.Hour); n != 0 {
			t.Errorf("%d blobs were removed", n)
		}
		w := decoded[wire.BaseFilesWritten](hub.restore(first, second).want(200))
		if w.Tree != first || w.BaseFilesPushed != 2 || w.Added != 1 || w.Changed != 1 || w.Removed != 1 || w.Uploaded != 0 {
			t.Errorf("%+v", w)
		}
		list := decoded[wire.BaseFiles](hub.as("rita").get(baseFiles).want(200))
		if list.Tree != first || list.UpdatedBy != "anna" || len(list.Files) != 2 {
			t.Errorf("%+v", list)
		}
		tar := hub.as("rita").get(baseFiles + "/archive").want(200).body
		if !strings.Contains(string(tar), "alpha") || !strings.Contains(string(tar), "beta") {
			t.Error("the archive is not that of the restored set")
		}
		hub.restore(first, first).want(200) // changes nothing
		h = decoded[wire.BaseFilesHistory](hub.as("rita").get(baseFiles + "/history").want(200)).Entries
		if len(h) != 3 || h[0].UpdatedVia != wire.ViaRestore || h[0].UpdatedBy != "anna" {
			t.Errorf("%+v", h)
		}
	})
}

// A push of both is two writes, which the histories show as one push.
func TestHistories_ShowTheWritesOfOnePush(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.settings(`{"a": 1}`)
		hub.pushFiles(file{name: "a", content: "alpha"})
		hub.as("alice").put(clientCfg+"?push=p1", `{"settings": {"a": 2}}`).want(200)
		hub.as("alice").put(baseFiles+"?push=p1", archive(hub, file{name: "a", content: "beta"})).want(200)
		configs := decoded[wire.ConfigHistory](hub.as("rita").get(configHistory).want(200)).Entries
		files := decoded[wire.BaseFilesHistory](hub.as("rita").get(baseFiles + "/history").want(200)).Entries
		n := configs[1].Number
		if configs[0].Number != n+2 || files[0].Number != n+3 || files[1].Number != n+1 {
			t.Errorf("the numbers are %d and %d, %d and %d", configs[0].Number, n, files[0].Number, files[1].Number)
		}
		if configs[0].Push != "p1" || files[0].Push != "p1" || configs[1].Push != "" || files[1].Push != "" {
			t.Errorf("%+v\n%+v", configs, files)
		}
		hub.as("alice").put(clientCfg+"?push="+strings.Repeat("p", 65), `{"settings": {"a": 3}}`).problem(422,
			wire.CodeInvalidBody)
	})
}

func TestBaseFilesHistory_ListsFormerSets(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		never := strings.Repeat("0", 64)
		hub.as("rita").get(baseFiles+"?tree="+never).problem(404, wire.CodeRevisionNotKept)
		first := hub.pushFiles(file{name: "a", content: "alpha"}, file{name: "b", content: "beta"})
		second := hub.pushFiles(file{name: "c", content: "delta"})
		for digest, paths := range map[string]string{first: "a b", second: "c"} {
			set := decoded[wire.BaseFiles](hub.as("rita").get(baseFiles + "?tree=" + digest).want(200))
			var got []string
			for _, e := range set.Files {
				got = append(got, e.Path)
			}
			if strings.Join(got, " ") != paths || set.Tree != digest || set.Count != len(got) || set.UpdatedBy != "alice" {
				t.Errorf("%+v", set)
			}
		}
		hub.as("rita").get(baseFiles+"?tree="+first, header{"If-None-Match": `"` + first + `"`}).want(304)
		hub.as("rita").get(baseFiles+"?tree="+never).problem(404, wire.CodeRevisionNotKept)
		hub.as("rita").get(baseFiles+"?tree=abc").problem(422, wire.CodeInvalidBody)
	})
}

func TestBaseFilesHistory_OfPublicProjectIsForItsReaders(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.publicProject("open")
		const open = "/v1/projects/acme/open/preview/base-files"
		first := decoded[wire.BaseFilesWritten](
			hub.as("alice").put(open, archive(t, file{name: "secret", content: "s"})).want(200)).Tree
		hub.as("alice").put(open, archive(t, file{name: "a", content: "a"})).want(200)
		hub.with("").get(open).want(200)
		hub.with("").get(open+"?tree="+first).problem(401, wire.CodeUnauthorized)
		hub.as("sam").get(open+"?tree="+first).problem(403, wire.CodeNotPermitted)
		hub.as("rita").get(open + "?tree=" + first).want(200)
	})
}

func TestRestoreBaseFiles_Refuses(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		never := strings.Repeat("0", 64)
		hub.restore(never, never).problem(412, wire.CodeRevisionChanged)
		first := hub.pushFiles(file{name: "a", content: "alpha"})
		second := hub.pushFiles(file{name: "a", content: "gamma"})
		if p := hub.restore(first, first).problem(412, wire.CodeRevisionChanged); p.Current == nil ||
			p.Current.Revision != second {
			t.Errorf("%+v", p)
		}
		hub.restore(never, second).problem(404, wire.CodeRevisionNotKept)
		hub.restore("abc", second).problem(422, wire.CodeInvalidBody)
		for _, body := range []string{"{}", `{"tree": 1}`, `{"tree": "` + first + `", "x": 1}`} {
			hub.as("anna").post(baseFiles+"/restore", body, header{"If-Match": "*"}).problem(422, wire.CodeInvalidBody)
		}
		// A tree of another project's history is none of this one, though the account has its blobs.
		hub.as("alice").post("/v1/projects", newProject("other")).want(201)
		other := "/v1/projects/acme/other/preview/base-files"
		hub.as("alice").put(other, archive(t, file{name: "x", content: "gamma"})).want(200)
		hub.as("alice").post(other+"/restore", wire.RestoreBaseFiles{Tree: first}, header{"If-Match": "*"}).problem(404,
			wire.CodeRevisionNotKept)
	})
}

// Pushes and restores at once, while garbage is collected: each request replaces the set
// that it names or none, and every set is whole.
func TestRestoreBaseFiles_RacesWithPushes(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		var trees []string
		for i := range 3 {
			trees = append(trees, hub.pushFiles(file{name: "a", content: fmt.Sprint(i)}, file{name: "b", content: "same"}))
		}
		before := len(decoded[wire.BaseFilesHistory](hub.as("rita").get(baseFiles + "/history")).Entries)
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for i := range 12 {
			wg.Go(func() {
				var a *answer
				if i%2 == 0 {
					a = hub.restore(trees[i%2], trees[2])
				} else {
					a = hub.as("alice").put(baseFiles, archive(t, file{name: "a", content: fmt.Sprint("new ", i)}),
						header{"If-Match": `"` + trees[2] + `"`})
				}
				switch a.status {
				case 200:
					mu.Lock()
					won++
					mu.Unlock()
				case 412:
				default:
					t.Errorf("status %d: %s", a.status, a.body)
				}
			})
		}
		for range 3 {
			wg.Go(func() {
				hub.collect("web", 10*time.Minute)
			})
		}
		wg.Wait()
		after := len(decoded[wire.BaseFilesHistory](hub.as("rita").get(baseFiles + "/history")).Entries)
		if won == 0 || after != before+1 {
			t.Errorf("%d requests won, the history has %d more entries, want 1", won, after-before)
		}
		hub.as("rita").get(baseFiles + "/archive").want(200)
	})
}
