package hubclient_test

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// received is what a push uploaded.
type received struct {
	manifest wire.Manifest
	contents map[string]string // by digest
}

// receive reads a push as far as it comes, and holds its frames against the rules.
func receive(r *http.Request) (got received, err error) {
	got.contents = map[string]string{}
	var plain []byte
	for frames := frame.NewReader(r.Body); ; {
		f, err := frames.Next(nil)
		if err == io.EOF {
			break
		}
		if err != nil {
			return got, err
		}
		piece, err := frame.Decode(nil, f)
		if err != nil {
			return got, err
		}
		plain = append(plain, piece...)
	}
	for archive := tar.NewReader(bytes.NewReader(plain)); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return got, err
		}
		if name, ok := strings.CutPrefix(h.Name, wire.ContentMembers); ok {
			got.contents[name] = string(content)
		} else if err := wire.Decode(content, &got.manifest); err != nil {
			return got, err
		}
	}
}

func written(files tree.Tree) wire.BaseFilesWritten {
	return wire.BaseFilesWritten{Project: project, Tree: files.Digest(), BaseFilesPushed: len(files)}
}

func TestPushFiles_SendsMissingBlobsInFrames(t *testing.T) {
	noise := make([]byte, 3<<20)
	rand.Read(noise)
	contents := map[string]string{"a": "alpha", "b": "", "copy": "alpha", "large": string(noise), "there": "the hub has it"}
	for i := range 3000 {
		contents[fmt.Sprintf("many/%d", i)] = strings.Repeat(fmt.Sprint(i), 300)
	}
	files, open := filesOf(contents)
	want := received{manifest: wire.Manifest{Tree: files.Digest(), Files: files}, contents: map[string]string{}}
	plan := wire.Plan{}
	for _, e := range files {
		if e.Path != "there" && want.contents[e.SHA256] == "" {
			want.contents[e.SHA256] = contents[e.Path]
			plan.Missing = append(plan.Missing, e.SHA256)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			got, err := receive(r)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(received{})); diff != "" || err != nil {
				t.Errorf("%v %.1000s", err, diff)
			}
			if h := r.Header; h.Get("Content-Type") != wire.BaseFilesType || h.Get("Content-Encoding") != "zstd" || h.Get("Expect") == "" {
				t.Errorf("the header is %v", h)
			}
			answer(w, 200, written(files))
		})
		b.plan = func(w http.ResponseWriter, r *http.Request) { answer(w, 200, plan) }
		if _, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}); err != nil {
			t.Error(err)
		}
	})
}

func TestPushFiles_CompressesForRemoteHub(t *testing.T) {
	contents := map[string]string{}
	for i := range 40 {
		contents[fmt.Sprint(i)] = strings.Repeat(fmt.Sprint(i, " some source code\n"), 30_000)
	}
	files, open := filesOf(contents)
	for name, c := range map[string]struct {
		origin     string
		perFrame   time.Duration
		compressed bool
	}{
		"far":                   {"http://hub.test", 0, true},
		"near":                  {"http://localhost:4680", 0, false},
		"near through a tunnel": {"http://127.0.0.1:4680", time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var last int64
				opts := hubclient.Options{Origin: c.origin, Token: token, AllowHTTP: true}
				b := newHub(t, opts, func(w http.ResponseWriter, r *http.Request, _ int) {
					for frames := frame.NewReader(r.Body); ; {
						f, err := frames.Next(nil)
						if err != nil {
							break
						}
						last = int64(len(f))
						time.Sleep(c.perFrame) // of the bubble's time
					}
					answer(w, 200, written(files))
				})
				if _, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}); err != nil {
					t.Fatal(err)
				}
				if compressed := last < 8<<10; compressed != c.compressed {
					t.Errorf("the last frame, of 45 KB, is sent in %d bytes", last)
				}
			})
		})
	}
}

func TestPushFiles_SmallDeltaNeedsNoPlan(t *testing.T) {
	base, _ := filesOf(map[string]string{"a": "alpha", "b": "beta", "c": "gamma"})
	files, open := filesOf(map[string]string{"a": "alpha", "b": "changed", "d": "alpha"})
	d := tree.DeltaOf(base, files)
	want := received{
		manifest: wire.Manifest{Tree: files.Digest(), Base: base.Digest(), Put: d.Put, Remove: d.Remove},
		contents: map[string]string{digest("changed"): "changed"},
	}
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			got, err := receive(r)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(received{})); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
			if r.ContentLength < 0 || r.Header.Get("Expect") != "" {
				t.Errorf("%d bytes, %v", r.ContentLength, r.Header)
			}
			answer(w, 200, written(files))
		})
		b.plan = func(w http.ResponseWriter, _ *http.Request) { t.Error("it is planned"); lackNone(w) }
		if _, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, Base: known(base)}); err != nil {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(http.ResponseWriter, *http.Request, int) { t.Error("something is sent") })
		b.plan = func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if want := `{"tree":"` + files.Digest() + `"}`; string(body) != want {
				t.Errorf("the question is %s", body)
			}
			answer(w, 200, wire.Plan{Current: files.Digest(), Unchanged: true})
		}
		w, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, Base: tree.Base{
			Digest: files.Digest(), Files: func() tree.Tree { t.Error("what is there is looked up"); return nil },
		}})
		if err != nil || w.BaseFilesPushed != 3 || w.Added+w.Changed+w.Removed+w.Uploaded != 0 {
			t.Errorf("%+v, %v", w, err)
		}
	})
}

// known is what a hub probably holds.
func known(files tree.Tree) tree.Base {
	return tree.Base{Digest: files.Digest(), Files: func() tree.Tree { return files }}
}

func lackNone(w http.ResponseWriter) { answer(w, 200, wire.Plan{}) }

func TestPushFiles_ReplansWhenPlanIsOutdated(t *testing.T) {
	base, _ := filesOf(map[string]string{"a": "alpha"})
	files, open := filesOf(map[string]string{"a": "beta"})
	outdated := refused(409, wire.CodePlanOutdated)
	synctest.Test(t, func(t *testing.T) {
		var forms []string
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
			got, err := receive(r)
			if err != nil {
				t.Error(err)
			}
			forms = append(forms, fmt.Sprintf("base %v, %d files, %d contents", got.manifest.Base != "", len(got.manifest.Files), len(got.contents)))
			if n < 3 {
				outdated(w, r)
				return
			}
			answer(w, 200, written(files))
		})
		if _, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, Base: known(base)}); err != nil {
			t.Error(err)
		}
		const full = "base false, 1 files, 1 contents"
		if diff := cmp.Diff([]string{"base true, 0 files, 1 contents", full, full}, forms); diff != "" {
			t.Error(diff)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) { outdated(w, r) })
		_, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open})
		if wantCode(t, err, wire.CodePlanOutdated); b.requests.Load() > 30 {
			t.Errorf("%d requests", b.requests.Load())
		}
	})
}

func TestPushFiles_RejectsNonsensePlan(t *testing.T) {
	files, open := someFiles()
	for name, plan := range map[string]wire.Plan{
		"contents of no file":        {Missing: []string{digest("other")}},
		"the list that it was given": {NeedFull: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, func(http.ResponseWriter, *http.Request, int) { t.Error("something is sent") })
				b.plan = func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, plan) }
				_, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open})
				wantCode(t, err, notAHub)
			})
		})
	}
}

// What arrived before the connection broke is not sent again: the hub plans for it.
func TestPushFiles_ResumesWithMissingBlobs(t *testing.T) {
	contents := map[string]string{}
	for i := range 30 {
		noise := make([]byte, 100<<10)
		rand.Read(noise)
		contents[fmt.Sprintf("f%02d", i)] = string(noise)
	}
	files, open := filesOf(contents)
	synctest.Test(t, func(t *testing.T) {
		held := map[string]bool{}
		var sent atomic.Int64
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
			if n < 4 {
				r.Body = io.NopCloser(io.LimitReader(r.Body, 1300<<10))
			}
			got, err := receive(r)
			for d := range got.contents {
				held[d] = true
				sent.Add(1)
			}
			if n < 4 {
				if err == nil {
					t.Error("all of it came")
				}
				for _, e := range files[:8*n] { // which a hub reads from whole frames
					held[e.SHA256] = true
				}
				hijack(w).Close()
				return
			}
			answer(w, 200, written(files))
		})
		b.plan = func(w http.ResponseWriter, _ *http.Request) {
			plan := wire.Plan{}
			for _, e := range files {
				if !held[e.SHA256] {
					plan.Missing = append(plan.Missing, e.SHA256)
				}
			}
			answer(w, 200, plan)
		}
		_, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open})
		if err != nil || sent.Load() > 8 || b.requests.Load() != 4 {
			t.Errorf("%d contents came with the last of %d requests: %v", sent.Load(), b.requests.Load(), err)
		}
	})
}

// longSet is of n files that have n-100 contents.
func longSet(n int) (tree.Tree, hubclient.Opener) {
	contents := map[string]string{}
	for i := range n {
		contents[fmt.Sprint("file", i)] = fmt.Sprint(i % (n - 100))
	}
	return filesOf(contents)
}

func TestPushFiles_SendsFullListOnlyWhenNeeded(t *testing.T) {
	one := wire.Plan{Missing: []string{digest("7")}}
	none := wire.Plan{NeedFull: true, AllMissing: true}
	for name, c := range map[string]struct {
		files  int
		base   tree.Tree
		plans  []wire.Plan // one after the other
		breaks int         // pushes that break before one comes through
		want   []string
	}{
		"the set is there":         {600, nil, []wire.Plan{{Unchanged: true}}, 0, []string{"question"}},
		"another is there":         {600, nil, []wire.Plan{{NeedFull: true}, one}, 0, []string{"question", "list of 600", "push of 1"}},
		"the hub knows no more":    {600, nil, []wire.Plan{{}, one}, 0, []string{"question", "list of 600", "push of 1"}},
		"the account has none":     {600, nil, []wire.Plan{none}, 0, []string{"question", "push of 500"}},
		"and the push breaks":      {600, nil, []wire.Plan{none, one}, 1, []string{"question", "push of 500", "list of 600", "push of 1"}},
		"nor what it was thought":  {600, tree.Tree{}, []wire.Plan{none}, 0, []string{"delta of 600", "push of 500"}},
		"a list that is not long":  {500, nil, []wire.Plan{one}, 0, []string{"list of 500", "push of 1"}},
		"one that is by one":       {501, nil, []wire.Plan{{Unchanged: true}}, 0, []string{"question"}},
		"all missing of a list":    {500, nil, []wire.Plan{{AllMissing: true, Missing: one.Missing}}, 0, []string{"list of 500", "push of 1"}},
		"all missing of the asked": {600, nil, []wire.Plan{{AllMissing: true}}, 0, []string{"question", "push of 500"}},
	} {
		t.Run(name, func(t *testing.T) {
			files, open := longSet(c.files)
			synctest.Test(t, func(t *testing.T) {
				var calls []string
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
					got, err := receive(r)
					if err != nil || len(got.manifest.Files) != len(files) {
						t.Errorf("%d files, %v", len(got.manifest.Files), err)
					}
					if calls = append(calls, fmt.Sprintf("push of %d", len(got.contents))); n <= c.breaks {
						hijack(w).Close()
						return
					}
					answer(w, 200, written(files))
				})
				b.plan = func(w http.ResponseWriter, r *http.Request) {
					m, err := readPlan(r)
					if err != nil {
						t.Error(err)
					}
					switch {
					case m.Files != nil:
						calls = append(calls, fmt.Sprintf("list of %d", len(m.Files)))
					case m.Base != "":
						calls = append(calls, fmt.Sprintf("delta of %d", len(m.Put)))
					default:
						calls = append(calls, "question")
					}
					answer(w, 200, c.plans[0])
					c.plans = c.plans[1:]
				}
				if _, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, Base: known(c.base)}); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(c.want, calls); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestSeedFiles_RefusedWithoutSendingBlobs(t *testing.T) {
	files, open := longSet(600)
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 1 {
				answer(w, 201, wire.Project{Project: project, API: project})
				return
			}
			if got, err := receive(r); len(got.manifest.Files) != len(files) || len(got.contents) != 0 {
				t.Errorf("%d files, %d contents, %v", len(got.manifest.Files), len(got.contents), err)
			}
			refused(412, wire.CodeSetExists)(w, r)
		})
		plans := 0
		b.plan = func(w http.ResponseWriter, _ *http.Request) {
			plans++
			answer(w, 200, wire.Plan{Current: files.Digest(), Unchanged: true})
		}
		created, err := b.CreateProject(t.Context(), create)
		if err != nil {
			t.Fatal(err)
		}
		_, err = created.SeedBaseFiles(t.Context(), hubclient.FileSet{Snapshot: files.Snapshot(), Open: open})
		if wantCode(t, err, wire.CodeSetExists); plans != 1 || b.requests.Load() != 2 {
			t.Errorf("%d plans, %d other requests", plans, b.requests.Load())
		}
	})
}

func TestPushFiles_CompressesLargePlanForRemoteHub(t *testing.T) {
	contents := map[string]string{}
	for i := range 100 {
		contents[fmt.Sprint("file", i)] = fmt.Sprint(i)
	}
	files, open := filesOf(contents)
	for origin, encoding := range map[string]string{"http://hub.test": "zstd", "http://localhost:4680": ""} {
		synctest.Test(t, func(t *testing.T) {
			opts := hubclient.Options{Origin: origin, Token: token, AllowHTTP: true}
			b := newHub(t, opts, func(w http.ResponseWriter, r *http.Request, _ int) {
				io.Copy(io.Discard, r.Body)
				answer(w, 200, written(files))
			})
			b.plan = func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Content-Encoding"); got != encoding {
					t.Errorf("%s: its encoding is %q", origin, got)
				}
				compressed := r.ContentLength < 4<<10
				m, err := readPlan(r)
				if err != nil || len(m.Files) != len(files) || compressed != (encoding != "") {
					t.Errorf("%s: %d bytes name %d files: %v", origin, r.ContentLength, len(m.Files), err)
				}
				lackNone(w)
			}
			if _, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPushFiles_ComputesMissingDigest(t *testing.T) {
	files, open := filesOf(map[string]string{"a": "alpha"})
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			if got, err := receive(r); err != nil || got.manifest.Tree != files.Digest() {
				t.Errorf("the tree %q, %v", got.manifest.Tree, err)
			}
			answer(w, 200, written(files))
		})
		if _, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: tree.Snapshot{Tree: files}, Open: open}); err != nil {
			t.Error(err)
		}
	})
}
