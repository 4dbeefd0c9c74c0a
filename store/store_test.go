package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// each runs f on a migrated store with the account acme, once a database.
func each(t *testing.T, f func(t *testing.T, s *store.Store)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, address string) {
		f(t, open(t, address))
	})
}

// open opens a database that has the accounts acme and alice.
func open(t testing.TB, address string) *store.Store {
	t.Helper()
	s := storetest.Open(t, address)
	addAccounts(t, s)
	return s
}

func addAccounts(t testing.TB, s *store.Store) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.CreateAccount(t.Context(), "acme", store.KindOrg), tx.CreateAccount(t.Context(), "alice", store.KindUser))
	})
}

func write(t testing.TB, s *store.Store, f func(*store.Tx) error) {
	t.Helper()
	if err := s.Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

func mustRef(t testing.TB, s string) ref.Ref {
	t.Helper()
	r, err := ref.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// project makes @acme/web with all that it binds.
func project(t testing.TB, s *store.Store) ref.Ref {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		ctx := t.Context()
		_, err := tx.PublishVersion(ctx, version("1.0.0", "d1"), &store.Bundle{Pieces: [][]byte{[]byte("x")}})
		return errors.Join(err,
			tx.CreateAPI(ctx, &store.API{Account: "acme", Slug: "pets"}, &store.Document{Text: []byte("{}")}, false),
			tx.CreateProject(ctx, webProject()))
	})
	return mustRef(t, "@acme/web")
}

func webProject() *store.Project {
	return &store.Project{
		Account: "acme", Slug: "web", StackAccount: "acme", StackSlug: "stack", StackVersion: "latest",
		APIAccount: "acme", APISlug: "pets", Visibility: "private", CreatedBy: "alice",
	}
}

func version(number, digest string) *store.StackVersion {
	return &store.StackVersion{Account: "acme", Slug: "stack", Version: number, Digest: digest, SizeBytes: 1, PublishedBy: "alice"}
}

func TestCreateProject_TakenNameIsConflict(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		other := webProject()
		other.Visibility = "public"
		err := s.Write(t.Context(), func(tx *store.Tx) error { return tx.CreateProject(t.Context(), other) })
		if !errors.Is(err, store.ErrExists) {
			t.Errorf("a second create: %v, want ErrExists", err)
		}
		s.Read(t.Context(), func(v *store.View) error {
			if p, err := v.Project(t.Context(), web); err != nil || p.Visibility != "private" {
				t.Errorf("the project is now %+v, %v", p, err)
			}
			return nil
		})
	})
}

func TestCreateProject_OneOfManyWins(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		project(t, s)
		const tries = 16
		var wg sync.WaitGroup
		errs := make(chan error, tries)
		for range tries {
			wg.Go(func() {
				p := webProject()
				p.Slug = "other"
				errs <- s.Write(context.Background(), func(tx *store.Tx) error { return tx.CreateProject(context.Background(), p) })
			})
		}
		wg.Wait()
		close(errs)
		won := 0
		for err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, store.ErrExists) {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d creates won, want 1", won)
		}
	})
}

func TestPutConfig_RequiresProject(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		err := s.Write(t.Context(), func(tx *store.Tx) error {
			_, _, err := tx.WriteConfig(t.Context(), mustRef(t, "@acme/none"), by("alice", set(`{"a":1}`)))
			return err
		})
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	})
}

func TestWrite_LosesNothingBetweenManyWriters(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		const writers, each = 8, 10
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range each {
					err := s.Write(context.Background(), func(tx *store.Tx) error {
						_, _, err := tx.WriteConfig(context.Background(), web, by("alice", func(c *store.Config) ([]byte, error) {
							var n int
							fmt.Sscanf(string(c.Body), `{"n":%d}`, &n)
							return fmt.Appendf(nil, `{"n":%d}`, n+1), nil
						}))
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		s.Read(t.Context(), func(v *store.View) error {
			c, err := v.Config(t.Context(), web)
			if want := fmt.Sprintf(`{"n":%d}`, writers*each); err != nil || string(c.Body) != want {
				t.Errorf("the config is %s, %v; want %s", c.Body, err, want)
			}
			return nil
		})
	})
}

func TestPublish_VersionsAreImmutableAndRise(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		publish := func(number, digest string) (*store.Published, error) {
			var p *store.Published
			err := s.Write(t.Context(), func(tx *store.Tx) (err error) {
				p, err = tx.PublishVersion(t.Context(), version(number, digest), &store.Bundle{Pieces: [][]byte{[]byte("x")}})
				return err
			})
			return p, err
		}
		for _, step := range []struct {
			number, digest string
			check          func(*store.Published, error) bool
			latest         string
		}{
			{"1.0.0-rc.1", "a", func(p *store.Published, err error) bool { return err == nil && p.First }, "1.0.0-rc.1"},
			{"1.0.0", "b", func(p *store.Published, err error) bool { return err == nil && !p.First && !p.Already }, "1.0.0"},
			{"1.0.0", "b", func(p *store.Published, err error) bool { return err == nil && p.Already }, "1.0.0"},
			{"1.0.0", "c", func(_ *store.Published, err error) bool { return errors.Is(err, store.ErrVersionExists) }, "1.0.0"},
			{"0.9.0", "c", func(_ *store.Published, err error) bool {
				var n *store.NotNewerError
				return errors.As(err, &n) && n.Newest == "1.0.0"
			}, "1.0.0"},
			{"2.0.0-beta", "d", func(_ *store.Published, err error) bool { return err == nil }, "1.0.0"},
			{"1.5.0", "e", func(_ *store.Published, err error) bool { var n *store.NotNewerError; return errors.As(err, &n) }, "1.0.0"},
			{"10000000000000000000000.0.0", "f", func(_ *store.Published, err error) bool { return err == nil }, "10000000000000000000000.0.0"},
		} {
			p, err := publish(step.number, step.digest)
			if !step.check(p, err) {
				t.Errorf("publishing %s as %s: %+v, %v", step.number, step.digest, p, err)
			}
			s.Read(t.Context(), func(v *store.View) error {
				if stack, _, err := v.Stack(t.Context(), mustRef(t, "@acme/stack")); err != nil || stack.Latest != step.latest {
					t.Errorf("after %s latest is %q, %v; want %q", step.number, stack.Latest, err, step.latest)
				}
				return nil
			})
		}
	})
}

func TestAddAPI_DerivedSlugIsUnique(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		for _, want := range []string{"pets", "pets-2", "pets-3", "pets-4", "pets-5", "pets-6"} {
			api := &store.API{Account: "acme", Slug: "pets"}
			write(t, s, func(tx *store.Tx) error {
				return tx.CreateAPI(t.Context(), api, &store.Document{Text: []byte("{}")}, true)
			})
			if api.Slug != want {
				t.Errorf("slug %q, want %q", api.Slug, want)
			}
		}
		err := s.Write(t.Context(), func(tx *store.Tx) error {
			return tx.CreateAPI(t.Context(), &store.API{Account: "acme", Slug: "pets"}, &store.Document{Text: []byte("{}")}, false)
		})
		if !errors.Is(err, store.ErrExists) {
			t.Errorf("a chosen slug that is taken: %v, want ErrExists", err)
		}
	})
}

func TestPutFiles_SwapsWhole(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		write(t, s, func(tx *store.Tx) error {
			return tx.AddBlobs(t.Context(), "acme", nil, []store.Blob{{SHA256: digestOf('a'), Size: 1}, {SHA256: digestOf('b'), Size: 1}})
		})
		one, err := tree.New([]tree.Entry{{Path: "a.txt", Mode: tree.Regular, Size: 1, SHA256: digestOf('a')}})
		if err != nil {
			t.Fatal(err)
		}
		two, err := tree.New([]tree.Entry{{Path: "b.txt", Mode: tree.Regular, Size: 1, SHA256: digestOf('b')}})
		if err != nil {
			t.Fatal(err)
		}
		swap := func(files tree.Tree, onlyFirst bool) (before tree.Tree, err error) {
			err = s.Write(t.Context(), func(tx *store.Tx) (err error) {
				swapped, err := tx.SwapSnapshot(t.Context(), web, store.Swap{
					Author: store.Author{By: "alice"}, CreateOnly: onlyFirst, Next: func(tree.Tree) (tree.Tree, error) { return files, nil },
				})
				if err == nil {
					before = swapped.Before
				}
				return err
			})
			return before, err
		}
		held := func(r ref.Ref) (digest string, err error) {
			err = s.Read(t.Context(), func(v *store.View) error {
				digest, err = v.SnapshotDigest(t.Context(), r)
				return err
			})
			return digest, err
		}
		if digest, err := held(web); err != nil || digest != "" {
			t.Errorf("before a set was pushed: %q, %v", digest, err)
		}
		if _, err := held(mustRef(t, "@acme/other")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("of no project: %v", err)
		}
		if before, err := swap(one, true); err != nil || len(before) != 0 {
			t.Errorf("first swap: %v, %v", before, err)
		}
		if _, err := swap(two, true); !errors.Is(err, store.ErrSnapshotExists) {
			t.Errorf("seeding twice: %v, want ErrSnapshotExists", err)
		}
		if before, err := swap(two, false); err != nil || before.Digest() != one.Digest() {
			t.Errorf("second swap: %v, %v", before, err)
		}
		s.Read(t.Context(), func(v *store.View) error {
			set, err := v.Snapshot(t.Context(), web)
			if err != nil || set.Tree != two.Digest() || set.Count != 1 {
				t.Errorf("the set is %+v, %v", set, err)
			}
			return nil
		})
		if digest, err := held(web); err != nil || digest != two.Digest() {
			t.Errorf("the set is %q, %v", digest, err)
		}
	})
}

func digestOf(c byte) string {
	b := make([]byte, 64)
	for i := range b {
		b[i] = c
	}
	return string(b)
}

func TestTokens_FindRevokeExpire(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		alive := &store.Token{Hash: digestOf('a'), Shown: "hubpat_aaaaa", Name: "n", Owner: "alice", Scopes: "write:catalog"}
		expired := &store.Token{Hash: digestOf('b'), Owner: "alice", ExpiresAt: 1}
		write(t, s, func(tx *store.Tx) error {
			return errors.Join(tx.CreateToken(t.Context(), alive), tx.CreateToken(t.Context(), expired))
		})
		bearer := func(hash string) *store.Bearer {
			t.Helper()
			var b *store.Bearer
			if err := s.Read(t.Context(), func(v *store.View) (err error) { b, err = v.Bearer(t.Context(), hash); return err }); err != nil {
				t.Fatal(err)
			}
			return b
		}
		if b := bearer(alive.Hash); b.Expired() || b.Disabled || !b.Stale() || b.Owner != "alice" {
			t.Errorf("a fresh token: %+v", b)
		}
		write(t, s, func(tx *store.Tx) error { return tx.TouchTokens(t.Context(), []string{alive.Hash}) })
		if b := bearer(alive.Hash); b.Stale() {
			t.Error("a token that was just used is still stale")
		}
		if b := bearer(expired.Hash); !b.Expired() {
			t.Error("an old token has not expired")
		}
		var revoked [2]*store.RevokedToken
		for i := range revoked {
			write(t, s, func(tx *store.Tx) (err error) { revoked[i], err = tx.RevokeToken(t.Context(), alive.ID()); return err })
		}
		if at := bearer(alive.Hash).RevokedAt; at == 0 || revoked[0].RevokedAt != at || revoked[1].RevokedAt != at {
			t.Errorf("revoked at %v, then %v; it says %v", revoked[0].RevokedAt, revoked[1].RevokedAt, at)
		}
		write(t, s, func(tx *store.Tx) error { _, err := tx.DisableAccount(t.Context(), "alice"); return err })
		if b := bearer(alive.Hash); !b.Disabled {
			t.Error("the token of a disabled account counts")
		}
		err := s.Read(t.Context(), func(v *store.View) error { _, err := v.Bearer(t.Context(), digestOf('c')); return err })
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("an unknown token: %v, want ErrNotFound", err)
		}
	})
}

func TestMembers_RoleEndsWithMembership(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		role := func() (role string) {
			s.Read(t.Context(), func(v *store.View) (err error) { role, err = v.RoleOf(t.Context(), "alice", "acme"); return err })
			return role
		}
		if got := role(); got != "" {
			t.Errorf("a stranger's role is %q", got)
		}
		for _, want := range []string{"reader", "writer"} {
			write(t, s, func(tx *store.Tx) error { return tx.SetMember(t.Context(), "acme", "alice", want) })
			if got := role(); got != want {
				t.Errorf("role %q, want %q", got, want)
			}
		}
		write(t, s, func(tx *store.Tx) error { _, err := tx.RemoveMember(t.Context(), "acme", "alice"); return err })
		if got := role(); got != "" {
			t.Errorf("a former member's role is %q", got)
		}
		for _, names := range [][2]string{{"none", "alice"}, {"acme", "nobody"}} {
			err := s.Write(t.Context(), func(tx *store.Tx) error { _, err := tx.RemoveMember(t.Context(), names[0], names[1]); return err })
			var missing *store.NoAccountError
			if !errors.As(err, &missing) {
				t.Errorf("removing %v: %v, want a NoAccountError", names, err)
			}
		}
		var kind *store.KindError
		err := s.Write(t.Context(), func(tx *store.Tx) error { return tx.SetMember(t.Context(), "alice", "alice", "reader") })
		if !errors.As(err, &kind) {
			t.Errorf("a member of a user: %v, want a KindError", err)
		}
	})
}

func TestClaimAnswer_EndsWithItsTransaction(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		errGone := errors.New("the hub is gone")
		claim := func(save bool, end error) (first *store.Answer) {
			t.Helper()
			mine := &store.Answer{Caller: "alice", Method: "POST", Path: "/v1/projects", Key: "k", BodyHash: "h"}
			err := s.Write(t.Context(), func(tx *store.Tx) (err error) {
				if first, err = tx.ClaimAnswer(t.Context(), mine); err != nil || !save {
					return errors.Join(err, end)
				}
				mine.Status, mine.Header, mine.Body = 201, []byte("{}"), []byte("body")
				return errors.Join(tx.SaveAnswer(t.Context(), mine), end)
			})
			if !errors.Is(err, end) || end == nil && err != nil {
				t.Fatal(err)
			}
			return first
		}
		if first := claim(true, errGone); first != nil {
			t.Fatalf("a fresh key has the answer %+v", first)
		}
		// A response that an earlier version stored is not replayed either.
		if first := claim(false, nil); first != nil {
			t.Fatalf("after a transaction that was rolled back: %+v", first)
		}
		if first := claim(true, nil); first != nil {
			t.Fatalf("after a claim without an answer: %+v", first)
		}
		if first := claim(false, nil); first == nil || first.Status != 201 || string(first.Body) != "body" {
			t.Fatalf("a key with an answer: %+v", first)
		}
	})
}

func TestRateLimits_OneConfigurationUnderBothNames(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		allow := func(*store.RateLimit) error { return nil }
		setLimit := func(id, refID string, minute int64) (r *store.RateLimit, changed bool, err error) {
			err = s.Write(t.Context(), func(tx *store.Tx) (err error) {
				r, changed, err = tx.SetRateLimit(t.Context(), &store.RateLimit{Account: "acme", ID: id + refID, BotID: id, BotRefID: refID, MinuteLimit: &minute}, allow)
				return err
			})
			return r, changed, err
		}
		if _, changed, err := setLimit("b1", "@acme/ci", 1); err != nil || !changed {
			t.Fatalf("changed = %v, %v", changed, err)
		}
		if r, changed, err := setLimit("", "@acme/ci", 3); err != nil || !changed || r.BotID != "b1" || *r.MinuteLimit != 3 {
			t.Errorf("by its second name: %+v, changed = %v, %v", r, changed, err)
		}
		if r, changed, err := setLimit("b1", "", 3); err != nil || changed || r.BotRefID != "@acme/ci" {
			t.Errorf("equal limits: %+v, changed = %v, %v", r, changed, err)
		}
		for _, names := range [][2]string{{"b2", "@acme/ci"}, {"b1", "@acme/typo"}} {
			if _, _, err := setLimit(names[0], names[1], 4); !errors.Is(err, store.ErrBotMismatch) {
				t.Errorf("%v: %v, want ErrBotMismatch", names, err)
			}
		}
		if _, _, err := setLimit("b3", "", 5); err != nil {
			t.Fatal(err)
		}
		if _, _, err := setLimit("b3", "@acme/typo", 5); !errors.Is(err, store.ErrBotMismatch) {
			t.Errorf("a name that the bot does not have: %v, want ErrBotMismatch", err)
		}
	})
}

func TestWrite_WaitsForDiskUnlessUnsynced(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := storetest.Open(t, address)
		waits := map[string]string{"2": "waits", "on": "waits", "1": "does not", "off": "does not"}
		for i, write := range []func(context.Context, func(*store.Tx) error) error{s.Write, s.WriteUnsynced, s.Write} {
			err := write(t.Context(), func(tx *store.Tx) error {
				how, err := tx.Waits(t.Context())
				if want := []string{"waits", "does not", "waits"}[i]; waits[how] != want {
					t.Errorf("write %d: the database says %q, want one that %s", i, how, want)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
