package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/store"
)

func (p *people) mint(i int, parent int64) (store.Token, error) {
	t := store.Token{Hash: hashOf(i) + "x", Name: fmt.Sprint(i), AccountID: p.ids["alice"], ParentID: parent}
	return t, p.Write(p.Context(), func(tx *store.Tx) error { return tx.MintToken(&t) })
}

func (p *people) revoke(i int) *store.RevokedToken {
	p.Helper()
	var revoked *store.RevokedToken
	p.must(func(tx *store.Tx) (err error) { revoked, err = tx.RevokeToken(hashOf(i) + "x"); return err })
	return revoked
}

func TestMintToken_EndsWithItsParent(t *testing.T) {
	eachPeople(t, func(p *people) {
		ids := map[int]int64{}
		for i, parent := range []int{0, 0, 1, 2, 3, 1, 0, 6} {
			token, err := p.mint(i, ids[parent])
			if err != nil {
				p.Fatal(i, err)
			}
			if ids[i] = token.ID; i == 0 {
				ids[0] = 0
			}
		}
		for _, c := range []struct {
			revoke int
			with   string
		}{{2, "3 4"}, {2, ""}, {1, "5"}} {
			revoked := p.revoke(c.revoke)
			var with []string
			for _, t := range revoked.With {
				if t.Owner != "alice" || t.RevokedAt == 0 {
					p.Errorf("%+v", t)
				}
				with = append(with, t.Name)
			}
			if got := strings.Join(with, " "); got != c.with {
				p.Errorf("revoked with %d: %s, want %s", c.revoke, got, c.with)
			}
		}
		if _, err := p.mint(20, ids[3]); !errors.Is(err, store.ErrRevoked) {
			p.Error("created with a revoked token:", err)
		}
		if n := p.count("tokens WHERE revoked_at = 0"); n != 3 {
			p.Errorf("%d are left", n)
		}
		for i := 100; ; i++ {
			if _, err := p.mint(i, 0); errors.Is(err, store.ErrTooMany) {
				if i != 100+200-3 {
					p.Errorf("the limit is at %d", i)
				}
				break
			} else if err != nil {
				p.Fatal(i, err)
			}
		}
	})
}

// A token that is created while what it is created with is revoked ends with it, or is not created.
func TestMintToken_RevocationMissesNone(t *testing.T) {
	eachPeople(t, func(p *people) {
		for round := range 10 {
			parent := p.token(1000*round+900, store.Token{})
			p.atOnce(6, func(s *store.Store, i int) {
				err := s.Write(p.Context(), func(tx *store.Tx) error {
					if i == 3 {
						_, err := tx.RevokeToken(parent.Hash)
						return err
					}
					t := &store.Token{Hash: hashOf(1000*round+i) + "x", AccountID: parent.AccountID, ParentID: parent.ID}
					return tx.MintToken(t)
				})
				if err != nil && !errors.Is(err, store.ErrRevoked) {
					p.Error(err)
				}
			})
			if n := p.count("tokens WHERE revoked_at = 0"); n != 0 {
				p.Fatalf("%d outlive what they were created with", n)
			}
		}
	})
}

func TestReplaceToken_EndsWithTheFormerOne(t *testing.T) {
	eachPeople(t, func(p *people) {
		former := p.token(1, store.Token{})
		next := store.Token{Hash: hashOf(2) + "x", AccountID: former.AccountID}
		p.must(func(tx *store.Tx) error { _, err := tx.ReplaceToken(&next, former.Hash); return err })
		if with := p.revoke(1).With; len(with) != 1 || with[0].Hash != next.Hash {
			p.Errorf("%+v", with)
		}
		p.fails(store.ErrRevoked, func(tx *store.Tx) error {
			_, err := tx.ReplaceToken(&store.Token{Hash: hashOf(3), AccountID: former.AccountID}, former.Hash)
			return err
		})
	})
}

func TestRevokeToken_ManyAtOnceDoNotWaitForEachOther(t *testing.T) {
	eachPeople(t, func(p *people) {
		root := p.token(1000, store.Token{})
		for i := range 150 {
			p.token(i, store.Token{ParentID: root.ID})
		}
		connections := make(chan bool, 24) // of both stores: one that waits for none does not show a deadlock
		p.atOnce(150, func(s *store.Store, i int) {
			connections <- true
			defer func() { <-connections }()
			err := s.Write(p.Context(), func(tx *store.Tx) error {
				if i%50 == 49 {
					return tx.MarkUsed([]int64{root.ID + int64(150-i), root.ID}, nil)
				}
				_, err := tx.RevokeToken(hashOf(i) + "x")
				return err
			})
			if err != nil {
				p.Error(i, err)
			}
		})
		if n := p.count("tokens WHERE revoked_at = 0"); n != 4 {
			p.Errorf("%d are valid", n)
		}
	})
}

func TestRevokeToken_NeedsOneToken(t *testing.T) {
	eachPeople(t, func(p *people) {
		p.token(1, store.Token{})
		p.token(2, store.Token{Owner: "sam"})
		for id, want := range map[string]error{"0": store.ErrAmbiguous, "1": store.ErrNotFound, "%": store.ErrNotFound} {
			p.fails(want, func(tx *store.Tx) error { _, err := tx.RevokeToken(id); return err })
		}
		for _, id := range []string{"", "0", hashOf(1)[:11], hashOf(1)} {
			if _, err := p.view().TokenOf(p.ids["alice"], id); !errors.Is(err, store.ErrNotFound) {
				p.Errorf("%q: %v", id, err)
			}
		}
		if found, err := p.view().TokenOf(p.ids["alice"], hashOf(1)[:12]); err != nil || found.Owner != "alice" {
			p.Error(found, err)
		}
	})
}

// Tokens that are restricted to a project end when it is deleted, and do not come back with it.
func TestCreateToken_EndsWithItsResource(t *testing.T) {
	eachPeople(t, func(p *people) {
		web := p.project("web")
		only := store.Restriction{AccountID: p.ids["acme"], ResourceID: web}
		p.token(1, store.Token{Only: only})
		p.sql("UPDATE resources SET deleted_at = 1 WHERE id = ?", web)
		p.fails(store.ErrNotFound, func(tx *store.Tx) error {
			return tx.CreateToken(&store.Token{Hash: "late", Owner: "alice", Only: only})
		})
		p.sql("DELETE FROM resources WHERE id = ?", web)
		if n := p.count("tokens"); n != 0 {
			p.Errorf("%d tokens outlive their project", n)
		}
	})
}

func TestCreateToken_DeletionOfItsProjectMissesNone(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		for round := range 8 {
			project := c.create(nil, c.project(fmt.Sprint("web", round)))
			var all sync.WaitGroup
			for i := range 6 {
				all.Go(func() {
					err := c.Write(c.Context(), func(tx *store.Tx) error {
						if i == 3 {
							_, err := tx.DeleteProject(project, "anna")
							return err
						}
						only := store.Restriction{AccountID: 1, ResourceID: project}
						return tx.MintToken(&store.Token{Hash: fmt.Sprint(round, i), AccountID: 1, Only: only})
					})
					if err != nil && !errors.Is(err, store.ErrNotFound) {
						c.Error(err)
					}
				})
			}
			all.Wait()
			if n := c.count("tokens WHERE revoked_at = 0"); n != 0 {
				c.Fatalf("%d outlive their project", n)
			}
		}
	})
}

func TestRevokeTokensOf_EndsEverything(t *testing.T) {
	eachPeople(t, func(p *people) {
		alice := p.ids["alice"]
		t := p.token(1, store.Token{})
		p.token(2, store.Token{Owner: "sam"})
		p.must(func(tx *store.Tx) error {
			return errors.Join(tx.CreateSession(&store.Session{User: "alice", Hash: "s", TokenID: t.ID}),
				tx.CreateLink(&store.Link{Account: "alice", Hash: "l", Kind: store.LinkSignIn, CreatedByID: alice}, time.Hour),
				tx.CreateLink(&store.Link{Account: "acme", Hash: "i", Kind: store.LinkInvitation, CreatedByID: alice}, time.Hour),
				tx.CreateDevice(&store.Device{Hash: "d", Code: "c", Address: "192.0.2.1"}))
		})
		p.must(func(tx *store.Tx) error {
			_, err := tx.DecideDevice(&store.Device{Hash: "d", State: store.DeviceApproved, UserID: alice})
			return err
		})
		p.must(func(tx *store.Tx) error {
			r, err := tx.RevokeTokensOf("alice")
			if r != (store.Revoked{Tokens: 1, Sessions: 1, Links: 2, Devices: 1}) {
				p.Errorf("%+v", r)
			}
			return err
		})
		if a := p.access(store.AccessQuery{Token: t.Hash}); a.RevokedAt == 0 {
			p.Error("the token is valid")
		}
		p.fails(store.ErrNotFound, func(tx *store.Tx) error { _, err := tx.RevokeTokensOf("none"); return err })
	})
}

func TestPruneTokens_DeletesThoseThatEndedLongAgo(t *testing.T) {
	eachPeople(t, func(p *people) {
		now, err := p.view().Now()
		if err != nil {
			p.Fatal(err)
		}
		long, lately := now.Add(-store.KeepTokens-time.Hour), now.Add(-store.KeepTokens+time.Hour)
		ids := map[string]int64{}
		for i, c := range []struct {
			name, parent     string
			expires, revoked store.Time
		}{
			{"valid", "", 0, 0}, {"valid for now", "", now.Add(time.Hour), 0},
			{"expired lately", "", lately, 0}, {"revoked lately", "", 0, lately},
			{"expired", "", long, 0}, {"revoked", "", 0, long}, {"revoked, child", "valid", now.Add(time.Hour), long},
			{"parent", "valid", 0, long}, {"child", "parent", 0, 0}, {"old child", "revoked", 0, long},
		} {
			t := p.token(i, store.Token{Name: c.name, ParentID: ids[c.parent], ExpiresAt: c.expires, RevokedAt: c.revoked})
			ids[c.name] = t.ID
		}
		// The parent of a valid token stays, and that of a deleted one for another run.
		for run, want := range []int{3, 1, 0} {
			if pruned, err := p.Prune(p.Context(), time.Hour, 0); pruned.Tokens != want || err != nil {
				p.Errorf("run %d deleted %d tokens; want %d; %v", run, pruned.Tokens, want, err)
			}
		}
		all, err := p.view().Tokens("alice")
		var names []string
		for _, t := range all {
			names = append(names, t.Name)
		}
		slices.Sort(names)
		want := []string{"child", "expired lately", "parent", "revoked lately", "valid", "valid for now"}
		if !slices.Equal(names, want) || err != nil {
			p.Errorf("left: %q, %v", names, err)
		}
	})
}
