package hubclient_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

func written(files tree.Tree) wire.BaseFilesWritten {
	return wire.BaseFilesWritten{Project: project, Tree: files.Digest(), BaseFilesPushed: len(files)}
}

func TestPushFiles_SendsMissingBlobs(t *testing.T) {
	contents := map[string]string{"a": "alpha", "b": "", "copy": "alpha", "there": "the hub has it"}
	for i := range 3000 {
		contents[fmt.Sprintf("many/%d", i)] = strings.Repeat(fmt.Sprint(i), 300)
	}
	files, open := filesOf(contents)
	want := sent(files, slices.Collect(maps.Values(contents))...)
	delete(want.Contents, digest("the hub has it"))
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			wantSent(t, r, nil, want)
			answer(w, 200, written(files))
		})
		b.plan = func(w http.ResponseWriter, r *http.Request) {
			answer(w, 200, wire.PlannedBaseFiles{Missing: slices.Sorted(maps.Keys(want.Contents))})
		}
		set := hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}
		if _, err := b.Upload(project, set).Put(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestPushFiles_SmallChangeNeedsNoPlan(t *testing.T) {
	base, _ := filesOf(map[string]string{"a": "alpha", "b": "beta", "c": "gamma"})
	files, open := filesOf(map[string]string{"a": "alpha", "b": "changed", "d": "alpha"})
	want := sent(files, "changed")
	want.Base = base.Digest()
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			wantSent(t, r, base, want)
			if r.ContentLength < 0 || r.Header.Get("Expect") != "" {
				t.Errorf("%d bytes, %v", r.ContentLength, r.Header)
			}
			answer(w, 200, written(files))
		})
		b.plan = func(w http.ResponseWriter, _ *http.Request) { t.Error("it is planned"); lackNone(w) }
		set := hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, Base: base.Snapshot()}
		if _, err := b.Upload(project, set).Put(t.Context()); err != nil {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(http.ResponseWriter, *http.Request, int) { t.Error("something is sent") })
		b.plan = func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if want := `{"tree":"` + files.Digest() + `","digests":[]}`; string(body) != want {
				t.Errorf("the question is %s", body)
			}
			answer(w, 200, wire.PlannedBaseFiles{Current: files.Digest(), Unchanged: true})
		}
		w, err := b.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, Base: files.Snapshot()}).Put(
			t.Context())
		if err != nil || w.BaseFilesPushed != 3 || w.Added+w.Changed+w.Removed+w.Uploaded != 0 {
			t.Errorf("%+v, %v", w, err)
		}
	})
}

func TestPushFiles_SendsAllWhenAsked(t *testing.T) {
	files, open := filesOf(map[string]string{"a": "alpha", "b": "beta"})
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
			wantSent(t, r, nil, sent(files, "alpha", "beta"))
			if n == 1 {
				hijack(w).Close()
				return
			}
			answer(w, 200, written(files))
		})
		b.plan = func(w http.ResponseWriter, _ *http.Request) { t.Error("it is planned"); lackNone(w) }
		set := hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, Base: files.Snapshot(), All: true}
		if _, err := b.Upload(project, set).Put(t.Context()); err != nil || b.requests.Load() != 2 {
			t.Errorf("%d requests, %v", b.requests.Load(), err)
		}
	})
}

func TestPushFiles_OneChangeOf10000IsSmall(t *testing.T) {
	contents := map[string]string{}
	for i := range 10_000 {
		contents[fmt.Sprintf("src/area%02d/feature%02d/file%d.ts", i%7, i/7%37, i)] = fmt.Sprint(i)
	}
	base, _ := filesOf(contents)
	contents["src/area00/feature00/file0.ts"] = "changed"
	files, open := filesOf(contents)
	b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.ContentLength < 0 || r.ContentLength > 400 {
			t.Errorf("it is %d bytes", r.ContentLength)
		}
		want := sent(files, "changed")
		want.Base = base.Digest()
		wantSent(t, r, base, want)
		answer(w, 200, written(files))
	})
	set := hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, Base: base.Snapshot()}
	if _, err := b.Upload(project, set).Put(t.Context()); err != nil {
		t.Error(err)
	}
}

func lackNone(w http.ResponseWriter) { answer(w, 200, wire.PlannedBaseFiles{}) }

func TestPushFiles_ReplansWhenPlanIsOutdated(t *testing.T) {
	base, _ := filesOf(map[string]string{"a": "alpha"})
	files, open := filesOf(map[string]string{"a": "beta"})
	outdated := refused(409, wire.CodePlanOutdated)
	synctest.Test(t, func(t *testing.T) {
		var forms []string
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
			got, err := receive(r, base)
			if err != nil {
				t.Error(err)
			}
			form := fmt.Sprintf("base %v, %d files, %d contents", got.Base != "", len(got.Files), len(got.Contents))
			forms = append(forms, form)
			if n < 3 {
				outdated(w, r)
				return
			}
			answer(w, 200, written(files))
		})
		set := hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, Base: base.Snapshot()}
		if _, err := b.Upload(project, set).Put(t.Context()); err != nil {
			t.Error(err)
		}
		const full = "base false, 1 files, 1 contents"
		if diff := cmp.Diff([]string{"base true, 1 files, 1 contents", full, full}, forms); diff != "" {
			t.Error(diff)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) { outdated(w, r) })
		_, err := b.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(t.Context())
		if wantCode(t, err, wire.CodePlanOutdated); b.requests.Load() > 30 {
			t.Errorf("%d requests", b.requests.Load())
		}
	})
}

func TestPushFiles_RejectsNonsensePlan(t *testing.T) {
	files, open := someFiles()
	for name, plan := range map[string]wire.PlannedBaseFiles{
		"contents of no file": {Missing: []string{digest("other")}},
		"a content twice":     {Missing: []string{files[0].SHA256, files[0].SHA256}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, func(http.ResponseWriter, *http.Request, int) { t.Error("something is sent") })
				b.plan = func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, plan) }
				_, err := b.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(t.Context())
				wantCode(t, err, notAHub)
			})
		})
	}
}

// What arrived before the connection broke is not sent again: the hub does not lack it.
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
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
			if n < 3 {
				r.Body = io.NopCloser(io.LimitReader(r.Body, 1300<<10))
			}
			got, err := receive(r, nil)
			for d := range got.Contents {
				if held[d] {
					t.Error("a content is sent again")
				}
				held[d] = true
			}
			if n < 3 {
				if err == nil {
					t.Error("all of it came")
				}
				hijack(w).Close()
				return
			}
			answer(w, 200, written(files))
		})
		b.plan = func(w http.ResponseWriter, _ *http.Request) {
			plan := wire.PlannedBaseFiles{}
			for _, e := range files {
				if !held[e.SHA256] {
					plan.Missing = append(plan.Missing, e.SHA256)
				}
			}
			answer(w, 200, plan)
		}
		_, err := b.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(t.Context())
		if err != nil || len(held) != len(files) || b.requests.Load() != 3 {
			t.Errorf("%d contents came with %d requests: %v", len(held), b.requests.Load(), err)
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

func TestPushFiles_PlansWhatTheBaseDoesNotHave(t *testing.T) {
	current, _ := filesOf(map[string]string{"file7": "7", "other": "x"})
	whole, _ := longSet(600)
	same, one := wire.PlannedBaseFiles{Unchanged: true}, wire.PlannedBaseFiles{Missing: []string{digest("7")}}
	at := func(p wire.PlannedBaseFiles) wire.PlannedBaseFiles { p.Current = current.Digest(); return p }
	for name, c := range map[string]struct {
		files  int
		base   tree.Tree
		plans  []wire.PlannedBaseFiles // one after the other
		breaks int                     // pushes that break before one comes through
		want   []string
	}{
		"the set is there": {600, nil, []wire.PlannedBaseFiles{same}, 0, []string{"plan of 500"}},
		"another is there": {600, nil, []wire.PlannedBaseFiles{at(one)}, 0, []string{"plan of 500", "push of 1"}},
		"and the push breaks": {
			600, nil, []wire.PlannedBaseFiles{one, one}, 1, []string{"plan of 500", "push of 1", "plan of 500", "push of 1"},
		},
		"it came before it broke": {
			600, nil, []wire.PlannedBaseFiles{one, same}, 1, []string{"plan of 500", "push of 1", "plan of 500"},
		},
		"the base is the set, gone": {
			600, whole, []wire.PlannedBaseFiles{at(wire.PlannedBaseFiles{}), one}, 0,
			[]string{"plan of 0", "plan of 500", "push of 1"},
		},
		"a base that it has": {
			700, current, []wire.PlannedBaseFiles{at(one)}, 0, []string{"plan of 599", "push of 1, base"},
		},
		"a base, gone": {
			700, current, []wire.PlannedBaseFiles{one, one}, 0, []string{"plan of 599", "plan of 600", "push of 1"},
		},
		"a base, and it breaks": {
			700, current, []wire.PlannedBaseFiles{at(one), same}, 1,
			[]string{"plan of 599", "push of 1, base", "plan of 599"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			files, open := longSet(c.files)
			if len(c.base) == len(current) { // which has 7
				one.Missing[0] = digest("8")
				defer func() { one.Missing[0] = digest("7") }()
			}
			synctest.Test(t, func(t *testing.T) {
				var calls []string
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
					got, err := receive(r, c.base)
					if err != nil || len(got.Files) != len(files) {
						t.Errorf("%d files, %v", len(got.Files), err)
					}
					call := fmt.Sprintf("push of %d", len(got.Contents))
					if got.Base != "" {
						call += ", base"
					}
					if calls = append(calls, call); n <= c.breaks {
						hijack(w).Close()
						return
					}
					answer(w, 200, written(files))
				})
				b.plan = func(w http.ResponseWriter, r *http.Request) {
					p, err := readPlan(r)
					if err != nil || p.Tree != files.Digest() {
						t.Errorf("the tree %s, %v", p.Tree, err)
					}
					calls = append(calls, fmt.Sprintf("plan of %d", len(p.Digests)))
					answer(w, 200, c.plans[0])
					c.plans = c.plans[1:]
				}
				set := hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}
				if c.base != nil {
					set.Base = c.base.Snapshot()
				}
				if _, err := b.Upload(project, set).Put(t.Context()); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(c.want, calls); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A project that was just created lacks every blob.
func TestSeedFiles_NeedsNoPlan(t *testing.T) {
	files, open := longSet(600)
	contents := make([]string, 500)
	for i := range contents {
		contents[i] = fmt.Sprint(i)
	}
	for name, respond := range map[string]step{
		"seeded":           func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, written(files)) },
		"pushed meanwhile": refused(412, wire.CodeSetExists),
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
				if n == 1 {
					answer(w, 201, wire.Project{Project: project, API: project})
					return
				}
				wantSent(t, r, nil, sent(files, contents...))
				if r.Header.Get("If-None-Match") != "*" {
					t.Errorf("the header is %v", r.Header)
				}
				respond(w, r)
			})
			b.plan = func(http.ResponseWriter, *http.Request) { t.Error("a plan is asked for") }
			created, err := b.CreateProject(t.Context(), create)
			if err != nil {
				t.Fatal(err)
			}
			_, err = created.SeedBaseFiles(t.Context(), hubclient.FileSet{Snapshot: files.Snapshot(), Open: open})
			if name == "seeded" && err != nil {
				t.Error(err)
			} else if name != "seeded" {
				wantCode(t, err, wire.CodeSetExists)
			}
			if n := b.requests.Load(); n != 2 {
				t.Errorf("%s: %d requests", name, n)
			}
		})
	}
}

func TestPushFiles_ComputesMissingDigest(t *testing.T) {
	files, open := filesOf(map[string]string{"a": "alpha"})
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, nil)
		b.plan = func(w http.ResponseWriter, r *http.Request) {
			p, err := readPlan(r)
			if err != nil || p.Tree != files.Digest() {
				t.Errorf("the tree %q, %v", p.Tree, err)
			}
			answer(w, 200, wire.PlannedBaseFiles{Unchanged: true})
		}
		if _, err := b.Upload(project, hubclient.FileSet{Snapshot: tree.Snapshot{Tree: files}, Open: open}).Put(
			t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A hub that is asked what a push would do has not done it, however the call ends.
func TestCalls_ThatWriteNothingLeaveNoDoubt(t *testing.T) {
	files, open := filesOf(map[string]string{"a": "alpha"})
	for name, call := range map[string]func(context.Context, *hub) error{
		"the plan of base files": func(ctx context.Context, b *hub) error {
			_, _, err := b.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Plan(ctx)
			return err
		},
		"the check of a config": func(ctx context.Context, b *hub) error {
			_, err := b.CheckConfig(ctx, project, wire.PutConfig{}, "")
			return err
		},
		"the plan of a project": func(ctx context.Context, b *hub) error {
			_, err := b.PlanProject(ctx, create)
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, silent)
			b.plan = func(w http.ResponseWriter, r *http.Request) { silent(w, r, 1) }
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(10*time.Second, cancel)
			if err := call(ctx, b); !errors.Is(err, context.Canceled) || hubclient.Unsettled(err) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
