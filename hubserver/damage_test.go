package hubserver_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// flip changes a byte in the middle of a column in every row of a table.
func (h *testHub) flip(table, column string) {
	h.Helper()
	db := h.open()
	defer db.Close()
	half := fmt.Sprintf("length(%[1]s) / 2", column)
	query := fmt.Sprintf("UPDATE %[1]s SET %[2]s = set_byte(%[2]s, %[3]s, get_byte(%[2]s, %[3]s) # 1)", table, column, half)
	if store.Path(h.address) != "" {
		query = fmt.Sprintf(`UPDATE %[1]s SET %[2]s = CAST(substr(%[2]s, 1, %[3]s) ||
			CASE WHEN substr(%[2]s, %[3]s + 1, 1) = x'21' THEN x'23' ELSE x'21' END || substr(%[2]s, %[3]s + 2) AS BLOB)`, table, column, half)
	}
	res, err := db.ExecContext(h.Context(), query)
	if err != nil {
		h.Fatal(err)
	}
	if n, err := res.RowsAffected(); n == 0 || err != nil {
		h.Fatalf("%d rows of %s were damaged: %v", n, table, err)
	}
}

// wantDamaged fails the test unless reading path fails: with 500, or after some bytes.
func (h *testHub) wantDamaged(path string) {
	h.Helper()
	req, err := h.as("rita").request("GET", path, nil)
	if err != nil {
		h.Fatal(err)
	}
	if resp, err := http.DefaultClient.Do(req); err == nil {
		defer resp.Body.Close()
		if _, err := io.ReadAll(resp.Body); err == nil && resp.StatusCode != http.StatusInternalServerError {
			h.Errorf("GET %s: status %d, want 500 or a response that breaks off", path, resp.StatusCode)
		}
	}
	if !strings.Contains(h.log.String(), "damaged") {
		h.Errorf("the log does not say that %s is damaged: %s", path, h.log)
	}
}

func TestGetArchive_NeverSendsDamagedContents(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := noisy(40, 30<<10)
		maps.Copy(contents, map[string]string{"empty": "", "text": strings.Repeat("some text ", 1000), "z": "the last"})
		hub.as("alice").push(contents)
		hub.flip("packs", "body")
		hub.wantDamaged(baseFiles + "/archive")
		hub.wantDamaged(baseFiles + "/archive")
		if n := strings.Count(hub.log.String(), "push them again"); n == 0 {
			t.Errorf("the log does not say what to do: %s", hub.log)
		}
	})
}

func TestPush_ReplacesDamagedContents(t *testing.T) {
	contents := noisy(40, 30<<10)
	contents["text"] = strings.Repeat("some text ", 1000)
	repair := map[string]func(t *testing.T, hub *testHub){
		"asked by the digest alone": func(t *testing.T, hub *testHub) {
			p := decoded[wire.Plan](hub.as("alice").post(plan, wire.Manifest{Tree: treeOf(t, contents).Digest()}).want(200))
			if p.Unchanged || !p.NeedFull {
				t.Errorf("the plan is %+v", p)
			}
			if w := hub.as("alice").push(contents); w.Uploaded == 0 {
				t.Errorf("%+v", w)
			}
		},
		"as a delta": func(t *testing.T, hub *testHub) {
			before := treeOf(t, contents)
			changed := maps.Clone(contents)
			changed["new"] = "new"
			m := delta(before, treeOf(t, changed))
			if p := decoded[wire.Plan](hub.as("alice").post(plan, m).want(200)); !p.NeedFull {
				t.Errorf("the plan is %+v", p)
			}
			p := hub.as("alice").put(baseFiles, uploadOf(t, m, blob("new")), zstdEncoded).problem(409, wire.CodePlanOutdated)
			if len(p.Missing) == 0 {
				t.Errorf("nothing is missing: %+v", p)
			}
			hub.as("alice").push(contents)
		},
		"without the damaged content": func(t *testing.T, hub *testHub) {
			m := full(treeOf(t, contents))
			p := hub.as("alice").put(baseFiles, uploadOf(t, m), zstdEncoded).problem(409, wire.CodePlanOutdated)
			if len(p.Missing) == 0 {
				t.Errorf("nothing is missing: %+v", p)
			}
			hub.as("alice").push(contents)
		},
		"as an ordinary archive": func(t *testing.T, hub *testHub) {
			var files []file
			for _, path := range slices.Sorted(maps.Keys(contents)) {
				files = append(files, file{name: path, content: contents[path]})
			}
			hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
		},
	}
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").push(contents)
		for name, again := range repair {
			hub.flip("packs", "body")
			hub.wantDamaged(baseFiles + "/archive")
			if p := hub.as("rita").get(baseFiles+"/archive").problem(500, wire.CodeDamaged); p.Detail != "the stored bytes are damaged" { // it is known now
				t.Errorf("the detail is %q", p.Detail)
			}
			again(t, hub)
			t.Log(name)
			hub.wantFiles(contents)
			if n := hub.count("SELECT count(*) FROM damage"); n != 0 {
				t.Errorf("%s: %d objects are still said to be damaged", name, n)
			}
			hub.sql("DELETE FROM packs WHERE NOT EXISTS (SELECT 1 FROM contents WHERE contents.stream = packs.stream)")
		}
	})
}

func TestPush_ReplacesAContentWhosePackIsLost(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := map[string]string{"a": "alpha", "b": "beta"}
		hub.as("alice").push(contents)
		hub.sql("DELETE FROM packs")
		hub.wantDamaged(baseFiles + "/archive")
		hub.wantDamaged(baseFiles + "/archive")
		hub.as("alice").push(contents)
		hub.wantFiles(contents)
		hub.sql("UPDATE contents SET size = 4") // of one it is right
		hub.wantDamaged(baseFiles + "/archive")
		hub.as("alice").push(contents)
		hub.wantFiles(contents)
	})
}

func TestPush_ReplacesADamagedList(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := map[string]string{"a": "alpha", "b": "beta", "c": strings.Repeat("gamma", 100)}
		hub.as("alice").push(contents)
		hub.flip("base_sets", "files")
		hub.wantDamaged(baseFiles)
		hub.wantDamaged(baseFiles + "/archive")
		files := treeOf(t, contents)
		if p := decoded[wire.Plan](hub.as("alice").post(plan, wire.Manifest{Tree: files.Digest()}).want(200)); p.Unchanged || !p.NeedFull {
			t.Errorf("the plan is %+v", p)
		}
		changed := maps.Clone(contents)
		changed["a"] = "other"
		hub.as("alice").put(baseFiles, uploadOf(t, delta(files, treeOf(t, changed)), blob("other")), zstdEncoded).problem(409, wire.CodePlanOutdated)
		hub.as("alice").push(contents)
		hub.wantFiles(contents)
		set := decoded[wire.BaseFiles](hub.as("rita").get(baseFiles).want(200))
		if diff := cmp.Diff(files, tree.Tree(set.Files)); diff != "" {
			t.Error(diff)
		}
		if n := hub.count("SELECT count(*) FROM damage"); n != 0 {
			t.Errorf("%d objects are still said to be damaged", n)
		}
		hub.flip("base_sets", "files")
		hub.as("anna").delete(web).want(200)
	})
}

func TestConfig_IsReplacedWhenItIsDamaged(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		const settings = `{"theme": {"color": "a rather long text in the middle"}}`
		before := hub.settings(settings)
		want := hub.as("rita").get(config).body
		hub.flip("configs", "body")
		hub.wantDamaged(config)
		hub.as("alice").patch(config, `{"set": {"a": 1}}`, header{"If-Match": before}).problem(500, wire.CodeDamaged)
		if p := hub.as("rita").get(config).problem(500, wire.CodeDamaged); p.Detail != "the stored bytes of the config of @acme/web are damaged" || !strings.Contains(p.Hint, "tool push NAME --force") {
			t.Errorf("a reader is told %q, %q", p.Detail, p.Hint)
		}
		hub.as("sam").get(config).problem(403, wire.CodeNotPermitted)
		if after := hub.settings(settings); after != before {
			t.Errorf("the same settings have the revision %s, and had %s", after, before)
		}
		var got, former wire.Config
		hub.as("rita").get(config).want(200).into(&got)
		if err := wire.Decode(want, &former); err != nil {
			t.Fatal(err)
		}
		if string(got.Config) != string(former.Config) {
			t.Errorf("the config is %s, and was %s", got.Config, former.Config)
		}
		hub.flip("configs", "body")
		hub.settings(`{"other": 1}`)
		hub.as("rita").get(config).want(200)
	})
}

func TestBundle_IsReplacedWhenItIsDamaged(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		body := bundle(t, "1.0.0", file{name: "noise", content: noisy(1, 600<<10)["f00"]})
		hub.as("alice").put(site+"/versions/1.0.0", body).want(201)
		const path = site + "/versions/1.0.0/bundle"
		for name, harm := range map[string]func(){
			"a byte":         func() { hub.flip("pieces", "body") },
			"the last piece": func() { hub.sql("DELETE FROM pieces WHERE n = 2") },
			"all pieces":     func() { hub.sql("DELETE FROM pieces") },
		} {
			harm()
			hub.wantDamaged(path)
			hub.as("alice").put(site+"/versions/1.0.0", bundle(t, "1.0.0", file{name: "other"})).problem(409, wire.CodeVersionExists)
			hub.as("alice").put(site+"/versions/1.0.0", body).want(200)
			if got := hub.as("rita").get(path).want(200); !bytes.Equal(got.body, body.data) {
				t.Errorf("%s: %d bytes are not the %d that were published", name, len(got.body), len(body.data))
			}
		}
	})
}

func TestDocument_IsReplacedWhenItIsDamaged(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		text := strings.Replace(pets, "Pets", "Pets "+strings.Repeat("x", 500), 1)
		text = strings.Replace(text, `"paths": {}`, `"paths": {}, "x-long": "`+strings.Repeat("long ", 120_000)+`"`, 1)
		const upload, path = "/v1/apis/upload?account=acme&slug=pets", "/v1/apis/acme/pets/document"
		hub.as("alice").post(upload, text).want(201)
		for name, harm := range map[string]func(){
			"a byte":         func() { hub.flip("pieces", "body") },
			"the last piece": func() { hub.sql("DELETE FROM pieces WHERE n = 2") },
			"all pieces":     func() { hub.sql("DELETE FROM pieces") },
		} {
			harm()
			hub.wantDamaged(path)
			hub.as("alice").post(upload, pets).problem(409, wire.CodeAPIExists) // another text
			hub.wantDamaged(path)
			hub.as("alice").post(upload, text).problem(409, wire.CodeAPIExists)
			if got := hub.as("rita").get(path).want(200); string(got.body) != text {
				t.Errorf("%s: %d bytes are not the %d that were uploaded", name, len(got.body), len(text))
			}
		}
	})
}
