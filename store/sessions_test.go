package store_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"example.com/projecthub/store"
)

func TestSession_EndsWithWhatIsBehindIt(t *testing.T) {
	hour := store.At(time.Now().Add(time.Hour))
	idle := func(d time.Duration) string {
		return fmt.Sprintf("UPDATE sessions SET seen_at = seen_at - %d", d.Microseconds())
	}
	for name, c := range map[string]struct {
		token *store.Token
		sql   string
		ended bool
	}{
		"nothing changed": {token: &store.Token{}},
		"no token":        {},
		"token expires":   {token: &store.Token{ExpiresAt: hour}, sql: "UPDATE tokens SET expires_at = 1", ended: true},
		"token revoked":   {token: &store.Token{}, sql: "UPDATE tokens SET revoked_at = 1", ended: true},
		"session expires": {sql: "UPDATE sessions SET expires_at = 1", ended: true},
		"idle too long":   {sql: idle(store.SessionIdle), ended: true},
		"nearly too long": {sql: idle(store.SessionIdle - time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			eachPeople(t, func(p *people) {
				s := &store.Session{User: "alice", Hash: hashOf(1), Scopes: "write:config"}
				if c.token != nil {
					s.TokenID = p.token(9, *c.token).ID
				}
				p.must(func(tx *store.Tx) error { return tx.CreateSession(s) })
				if c.sql != "" {
					p.sql(c.sql)
				}
				a := p.access(store.AccessQuery{Session: s.Hash, Account: "acme"})
				if ended := a.Expired() || a.RevokedAt != 0; ended != c.ended || a.Role != "writer" || a.Session != s.ID {
					p.Errorf("%+v", a)
				}
				if c.token != nil && c.token.ExpiresAt != 0 && (a.ExpiresAt != hour || a.TokenEnds == 0) {
					p.Errorf("it expires at %v, the token at %v", a.ExpiresAt, hour)
				}
				all, err := p.view().Sessions(p.ids["alice"])
				if (len(all) == 1) == c.ended || err != nil {
					p.Errorf("listed: %+v, %v", all, err)
				}
			})
		})
	}
}

func TestSession_IsOfAUserAndTheUsersToken(t *testing.T) {
	eachPeople(t, func(p *people) {
		foreign := p.token(1, store.Token{Owner: "sam"})
		create := func(s *store.Session) error {
			return p.Write(p.Context(), func(tx *store.Tx) error { return tx.CreateSession(s) })
		}
		if err := create(&store.Session{User: "alice", Hash: "a", TokenID: foreign.ID}); err == nil {
			p.Error("a session begins with the token of another user")
		}
		if _, ok := errors.AsType[*store.KindError](create(&store.Session{User: "acme", Hash: "b"})); !ok {
			p.Error("an org signs in")
		}
		if err := create(&store.Session{User: "alice", Hash: "c"}); err != nil {
			p.Fatal(err)
		}
		p.must(func(tx *store.Tx) error {
			for _, want := range []bool{true, false} {
				if ended, err := tx.EndSession("c"); ended != want || err != nil {
					p.Error(ended, err)
				}
			}
			return nil
		})
	})
}

func TestSession_KeepsBoundedNumberPerUser(t *testing.T) {
	eachPeople(t, func(p *people) {
		for i := range 60 {
			p.must(func(tx *store.Tx) error { return tx.CreateSession(&store.Session{User: "alice", Hash: hashOf(i)}) })
			p.sql("UPDATE sessions SET seen_at = created_at + ? WHERE hash = ?", i, hashOf(i))
		}
		all, err := p.view().Sessions(p.ids["alice"])
		if err != nil || len(all) != 50 || all[0].Hash != hashOf(59) || all[49].Hash != hashOf(10) {
			p.Errorf("%d are kept, %v", len(all), err)
		}
		p.sql("UPDATE sessions SET seen_at = seen_at - 120000000")
		if a := p.access(store.AccessQuery{Session: hashOf(59)}); !a.Stale() {
			p.Error("it was used lately")
		}
		p.must(func(tx *store.Tx) error { return tx.MarkUsed(nil, []int64{all[0].ID, 1 << 40}) })
		if a := p.access(store.AccessQuery{Session: hashOf(59)}); a.Stale() {
			p.Error("its use was not stored")
		}
	})
}

// One that has stolen a weak token must not end the sessions of others.
func TestSession_KeepsThoseOfOtherTokens(t *testing.T) {
	eachPeople(t, func(p *people) {
		ids := []int64{0, p.token(1, store.Token{}).ID, p.token(2, store.Token{}).ID}
		for i := range 52 {
			token := ids[min(i, 2)]
			p.must(func(tx *store.Tx) error {
				return tx.CreateSession(&store.Session{User: "alice", Hash: hashOf(i), TokenID: token})
			})
			p.sql("UPDATE sessions SET seen_at = created_at + ? WHERE hash = ?", i-100, hashOf(i))
		}
		all, err := p.view().Sessions(p.ids["alice"])
		if err != nil || len(all) != 52 || all[51].Hash != hashOf(0) {
			p.Errorf("%d are kept, %v", len(all), err)
		}
		p.must(func(tx *store.Tx) error {
			return tx.CreateSession(&store.Session{User: "alice", Hash: "next", TokenID: ids[2]})
		})
		if n := p.count("sessions WHERE token_id = " + fmt.Sprint(ids[2])); n != 50 || p.count("sessions") != 52 {
			p.Errorf("%d of the token are kept", n)
		}
	})
}

func (p *people) link(l store.Link) error {
	return p.Write(p.Context(), func(tx *store.Tx) error { return tx.CreateLink(&l, store.AccountLinkLife) })
}

func TestLink_IsUsedOnce(t *testing.T) {
	eachPeople(t, func(p *people) {
		for round := range 5 {
			if err := p.link(store.Link{Account: "alice", Hash: hashOf(round), Kind: store.LinkSignIn}); err != nil {
				p.Fatal(err)
			}
			l, err := p.view().Link(hashOf(round))
			if err != nil || l.Expired || l.Void {
				p.Fatalf("%+v, %v", l, err)
			}
			var used atomic.Int32
			p.atOnce(8, func(s *store.Store, _ int) {
				err := s.Write(p.Context(), func(tx *store.Tx) error {
					ok, err := tx.UseLink(l)
					if ok {
						err = tx.CreateSession(&store.Session{UserID: l.AccountID, Hash: fmt.Sprint("s", round)})
					}
					return err
				})
				if err != nil {
					p.Error(err)
				}
			})
			if used.Store(int32(p.count("sessions"))); used.Load() != int32(round+1) {
				p.Fatalf("%d sessions after %d links", used.Load(), round+1)
			}
		}
	})
}

func TestLink_EndsWithTheRightsOfWhoCreatedIt(t *testing.T) {
	disable := func(name string) func(tx *store.Tx) error {
		return func(tx *store.Tx) error { _, err := tx.SetDisabled(name, true); return err }
	}
	revoke := func(tx *store.Tx) error { _, err := tx.RevokeToken(hashOf(1)); return err }
	demote := func(tx *store.Tx) error { return tx.SetMember("acme", "anna", "writer") }
	for name, c := range map[string]struct {
		change func(tx *store.Tx) error
		sql    string
		void   string // which link is
	}{
		"nothing":     {sql: "UPDATE accounts SET kind = kind"},
		"the token":   {change: revoke, void: "sign-in"},
		"its end":     {sql: "UPDATE tokens SET expires_at = 1", void: "sign-in"},
		"the account": {change: disable("alice"), void: "sign-in"},
		"the inviter": {change: disable("anna"), void: "invitation"},
		"the org":     {change: disable("acme"), void: "invitation"},
		"the role":    {change: demote, void: "invitation"},
	} {
		t.Run(name, func(t *testing.T) {
			eachPeople(t, func(p *people) {
				token := p.token(1, store.Token{})
				err := errors.Join(
					p.link(store.Link{
						Hash: "sign-in", Account: "alice", Kind: store.LinkSignIn, TokenID: token.ID, CreatedByID: p.ids["alice"],
					}),
					p.link(store.Link{
						Hash: "invitation", Account: "acme", Kind: store.LinkInvitation, Role: "reader", CreatedByID: p.ids["anna"],
					}))
				if err != nil {
					p.Fatal(err)
				}
				if c.sql != "" {
					p.sql(c.sql)
				} else {
					p.must(c.change)
				}
				for _, hash := range []string{"sign-in", "invitation"} {
					l, err := p.view().Link(hash)
					if err != nil || l.Void != (hash == c.void) {
						p.Errorf("%s: %+v, %v", hash, l, err)
					}
				}
			})
		})
	}
}

func TestLink_ExpiresAndIsBounded(t *testing.T) {
	eachPeople(t, func(p *people) {
		signIn := func(i int) store.Link {
			return store.Link{Account: "alice", Hash: hashOf(i), Kind: store.LinkSignIn}
		}
		for i := range 100 {
			if err := p.link(signIn(i)); err != nil {
				p.Fatal(err)
			}
		}
		if err := p.link(signIn(100)); !errors.Is(err, store.ErrTooMany) {
			p.Error(err)
		}
		other := signIn(99999) // a weak token must not keep others from creating links
		if other.TokenID = p.token(1, store.Token{}).ID; p.link(other) != nil {
			p.Error("another token can create none")
		}
		p.sql("UPDATE links SET expires_at = 1 WHERE hash = ?", hashOf(1))
		l, err := p.view().Link(hashOf(1))
		if err != nil || !l.Expired {
			p.Error(l, err)
		}
		p.must(func(tx *store.Tx) error {
			used, err := tx.UseLink(l)
			if used {
				p.Error("it was used")
			}
			return err
		})
		if err := p.link(signIn(101)); err != nil {
			p.Error(err)
		}
		for account, kind := range map[string]string{"acme": store.LinkSignIn, "alice": store.LinkInvitation} {
			err := p.link(store.Link{Account: account, Hash: account, Kind: kind})
			if _, ok := errors.AsType[*store.KindError](err); !ok {
				p.Error(err)
			}
		}
	})
}
