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
	"example.com/projecthub/store/sqldb"
)

// flip changes a byte in the middle of a column in the rows of a table that are meant.
func (h *testHub) flip(table, column, where string) {
	h.Helper()
	db := h.open()
	defer db.Close()
	half := fmt.Sprintf("length(%s) / 2", column)
	query := fmt.Sprintf("UPDATE %[1]s SET %[2]s = set_byte(%[2]s, %[3]s, get_byte(%[2]s, %[3]s) # 1) WHERE %[4]s",
		table, column, half, where)
	if sqldb.Path(h.address) != "" {
		query = fmt.Sprintf(`UPDATE %[1]s SET %[2]s = CAST(substr(%[2]s, 1, %[3]s) ||
			CASE WHEN substr(%[2]s, %[3]s + 1, 1) = x'21' THEN x'23' ELSE x'21' END || substr(%[2]s, %[3]s + 2) AS BLOB)
			WHERE %[4]s`, table, column, half, where)
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
		hub.flip("blobs", "body", "size > 100")
		hub.wantDamaged(baseFiles + "/archive")
		hub.wantDamaged(baseFiles + "/archive")
		if n := strings.Count(hub.log.String(), "push them again"); n == 0 {
			t.Errorf("the log does not say what to do: %s", hub.log)
		}
	})
}

func TestConfig_IsReplacedWhenItIsDamaged(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		const settings = `{"theme": {"color": "a rather long text in the middle"}}`
		before := hub.settings(settings)
		want := hub.as("rita").get(config).body
		hub.flip("revisions", "body", "n = (SELECT max(n) FROM revisions)")
		hub.wantDamaged(config)
		hub.as("alice").patch(config, `{"set": {"a": 1}}`, header{"If-Match": before}).problem(500, wire.CodeDamaged)
		if p := hub.as("rita").get(config).problem(500,
			wire.CodeDamaged); p.Detail != "the stored bytes of the config of @acme/web are damaged" ||
			!strings.Contains(p.Hint, "tool push NAME --force") {
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
		hub.flip("revisions", "body", "n = (SELECT max(n) FROM revisions)")
		hub.settings(`{"other": 1}`)
		hub.as("rita").get(config).want(200)
	})
}

func TestPush_ReplacesDamagedContents(t *testing.T) {
	contents := noisy(40, 30<<10)
	contents["text"] = strings.Repeat("some text ", 1000)
	repair := map[string]func(t *testing.T, hub *testHub){
		"sent again": func(t *testing.T, hub *testHub) {
			hub.as("alice").put(baseFiles, uploadOf(treeOf(t, contents), all(contents)...)).want(200)
		},
		"as an ordinary archive": func(t *testing.T, hub *testHub) {
			var files []file
			for _, path := range slices.Sorted(maps.Keys(contents)) {
				files = append(files, file{name: path, content: contents[path]})
			}
			hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
		},
		"after fsck --repair": func(t *testing.T, hub *testHub) {
			if _, err := hub.store.Check(t.Context(), true, func(store.Problem) {}); err != nil {
				t.Fatal(err)
			}
			if w := hub.as("alice").push(contents); w.Uploaded != 41 {
				t.Errorf("%+v", w)
			}
		},
	}
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").push(contents)
		for name, again := range repair {
			hub.flip("blobs", "body", "TRUE")
			hub.wantDamaged(baseFiles + "/archive")
			if p := hub.as("rita").get(baseFiles+"/archive").problem(500,
				wire.CodeDamaged); p.Detail != store.ErrDamaged.Error() {
				t.Errorf("the detail is %q", p.Detail)
			}
			again(t, hub)
			t.Log(name)
			hub.wantFiles(contents)
		}
	})
}

// A repair removes a blob that the project's list names: a push without it is told so, also one that
// asks by the digest of the list alone, or sends what is new only.
func TestPush_AfterARepairSendsWhatIsMissing(t *testing.T) {
	alpha := sha([]byte("alpha"))
	damage := map[string]string{
		"damaged": "UPDATE blobs SET body = (SELECT body FROM blobs WHERE sha256 = '" + sha([]byte("beta")) + "') " +
			"WHERE sha256 = '" + alpha + "'",
		"lost": "DELETE FROM blobs WHERE sha256 = '" + alpha + "'",
	}
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		contents := map[string]string{"a": "alpha", "b": "beta"}
		alice.push(contents)
		for name, statement := range damage {
			hub.sql(statement)
			if _, err := hub.store.Check(t.Context(), true, func(store.Problem) {}); err != nil {
				t.Fatal(err)
			}
			former := treeOf(t, contents)
			unchanged := func() bool {
				q := wire.PlanBaseFiles{Tree: former.Digest()}
				return decoded[wire.PlannedBaseFiles](alice.post(plan, q).want(200)).Unchanged
			}
			if unchanged() {
				t.Errorf("%s: unchanged, but a blob is missing", name)
			}
			alice.put(baseFiles, uploadOf(former)).problem(409, wire.CodePlanOutdated)
			changed := maps.Clone(contents)
			changed["b"] = name
			patch := patchOf(t, former, treeOf(t, changed), name)
			p := alice.put(baseFiles+"?base="+former.Digest(), patch).problem(409, wire.CodePlanOutdated)
			if !slices.Equal(p.Missing, []string{alpha}) {
				t.Errorf("%s: %+v", name, p)
			}
			if w := alice.push(contents); w.Uploaded != 1 || w.Tree != former.Digest() {
				t.Errorf("%s: %+v", name, w)
			}
			if !unchanged() {
				t.Errorf("%s: changed, but all blobs are there", name)
			}
			hub.wantFiles(contents)
		}
	})
}

func TestPush_ReplacesADamagedList(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := map[string]string{"a": "alpha", "b": "beta", "c": strings.Repeat("gamma", 100)}
		hub.as("alice").push(contents)
		harm := func() { hub.flip("revisions", "body", "n = (SELECT max(n) FROM revisions)") }
		harm()
		hub.wantDamaged(baseFiles)
		hub.wantDamaged(baseFiles + "/archive")
		files := treeOf(t, contents)
		changed := maps.Clone(contents)
		changed["a"] = "other"
		patch := patchOf(t, files, treeOf(t, changed), "other")
		hub.as("alice").put(baseFiles+"?base="+files.Digest(), patch).problem(409, wire.CodePlanOutdated)
		hub.as("alice").push(contents)
		hub.wantFiles(contents)
		set := decoded[wire.BaseFiles](hub.as("rita").get(baseFiles).want(200))
		if diff := cmp.Diff(files, tree.Tree(set.Files)); diff != "" {
			t.Error(diff)
		}
		harm()
		hub.as("anna").delete(web).want(200)
	})
}

func TestGetArchive_SendsAllFilesIfTheBaseIsDamaged(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		base := hub.as("alice").push(map[string]string{"a": "alpha", "b": "beta"}).Tree
		hub.as("alice").push(map[string]string{"a": "alpha", "b": "gamma"})
		path := baseFiles + "/archive?base=" + base
		if got := namesIn(t, hub.as("rita").get(path).want(200).body); !slices.Equal(got, []string{"b"}) {
			t.Errorf("before: %q", got)
		}
		hub.flip("revisions", "body", "digest = '"+base+"'")
		if got := namesIn(t, hub.as("rita").get(path).want(200).body); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("damaged: %q", got)
		}
	})
}

func TestPush_ReplacesBlobsThatAreLost(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := map[string]string{"a": "alpha", "b": "beta"}
		hub.as("alice").push(contents)
		hub.sql("DELETE FROM blobs WHERE sha256 = '" + sha([]byte("alpha")) + "'")
		hub.wantDamaged(baseFiles + "/archive")
		hub.as("alice").push(contents)
		hub.wantFiles(contents)
	})
}

func TestBundle_IsReplacedWhenItIsDamaged(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		body := bundle(t, "1.0.0", file{name: "noise", content: noisy(1, 600<<10)["f00"]})
		hub.as("alice").put(site+"/versions/1.0.0", body).want(201)
		const path = site + "/versions/1.0.0/bundle"
		want := hub.as("rita").get(path).want(200).body
		for name, harm := range map[string]func(){
			"a byte":    func() { hub.flip("blobs", "body", "size > 1000") },
			"a file":    func() { hub.sql("DELETE FROM blobs WHERE size > 1000") },
			"all files": func() { hub.sql("DELETE FROM blobs") },
			"the list":  func() { hub.flip("stack_versions", "body", "TRUE") },
		} {
			harm()
			hub.wantDamaged(path)
			hub.as("alice").put(site+"/versions/1.0.0", bundle(t, "1.0.0", file{name: "other"})).problem(409,
				wire.CodeVersionExists)
			hub.as("alice").put(site+"/versions/1.0.0", body).want(200)
			if got := hub.as("rita").get(path).want(200); !bytes.Equal(got.body, want) {
				t.Errorf("%s: %d bytes are not the %d that were published", name, len(got.body), len(want))
			}
		}
	})
}

func TestCheck_ReportsDigestsOfMissingBlobs(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for _, c := range []struct{ harm, says string }{
			{"UPDATE stack_versions SET schema = '" + sha([]byte("none")) + "'", "schema of settings"},
			{"UPDATE apis SET targets = '" + sha([]byte("none")) + "'", "missing"},
		} {
			hub.sql(c.harm)
			var problems []string
			found := func(p store.Problem) { problems = append(problems, p.Cause.Error()) }
			if _, err := hub.store.Check(t.Context(), false, found); err != nil {
				t.Fatal(err)
			}
			if len(problems) != 1 || !strings.Contains(problems[0], c.says) {
				t.Errorf("%s: %q", c.harm, problems)
			}
			hub.as("alice").put(site+"/versions/1.0.0", bundle(t, "1.0.0")).want(200)
			hub.as("alice").put("/v1/apis/acme/pets/document", pets).want(200)
		}
	})
}

func TestDocument_OfAnotherSizeIsDamaged(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for _, size := range []string{"0", "-1", "size + 5", "1099511627776", "4611686018427387909"} {
			hub.sql("UPDATE blobs SET size = " + size)
			hub.as("rita").get("/v1/apis/acme/pets/document").problem(500, wire.CodeDamaged)
			hub.as("alice").put("/v1/apis/acme/pets/document", pets).want(200)
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
			"a byte": func() { hub.flip("blobs", "body", "size > 1000") },
			"all":    func() { hub.sql("DELETE FROM blobs") },
		} {
			harm()
			hub.wantDamaged(path)
			hub.as("alice").post(upload, text).problem(409, wire.CodeAPIExists)
			hub.wantDamaged(path)
			hub.as("alice").put(path, text).want(200)
			if got := hub.as("rita").get(path).want(200); string(got.body) != text {
				t.Errorf("%s: %d bytes are not the %d that were uploaded", name, len(got.body), len(text))
			}
		}
	})
}
