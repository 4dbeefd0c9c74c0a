package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// signIn stores a session of alice; token is the hash of the token behind it.
func signIn(t *testing.T, s *store.Store, hash, token string) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		return tx.CreateSession(t.Context(), &store.Session{User: "alice", Hash: hash, Token: token, Scopes: "write:config"})
	})
}

func signedIn(t *testing.T, s *store.Store, user, hash string) (found *store.SignedIn, err error) {
	t.Helper()
	err = s.Read(t.Context(), func(v *store.View) (err error) {
		found, err = v.SignedIn(t.Context(), user, hash)
		return err
	})
	return found, err
}

func hashOf(i int) string { return fmt.Sprintf("%064x", i) }

func TestSession_EndsWithWhatIsBehindIt(t *testing.T) {
	ctx := t.Context()
	hour := store.At(time.Now().Add(time.Hour))
	for name, c := range map[string]struct {
		token   *store.Token
		change  func(tx *store.Tx) error
		execute string
		ended   bool
		off     bool
	}{
		"nothing changed":  {token: &store.Token{}},
		"no token":         {},
		"token expires":    {token: &store.Token{ExpiresAt: hour}, execute: "UPDATE tokens SET expires_at = 1", ended: true},
		"session expires":  {execute: "UPDATE sessions SET expires_at = 1", ended: true},
		"idle too long":    {execute: fmt.Sprintf("UPDATE sessions SET seen_at = seen_at - %d", store.SessionIdle.Microseconds()), ended: true},
		"nearly too long":  {execute: fmt.Sprintf("UPDATE sessions SET seen_at = seen_at - %d", (store.SessionIdle - time.Minute).Microseconds())},
		"token revoked":    {token: &store.Token{}, change: func(tx *store.Tx) error { _, err := tx.RevokeToken(ctx, hashOf(9)); return err }, ended: true},
		"token is gone":    {token: &store.Token{}, execute: "DELETE FROM tokens", ended: true},
		"account disabled": {change: func(tx *store.Tx) error { _, err := tx.DisableAccount(ctx, "alice"); return err }, off: true},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, address string) {
				s := open(t, address)
				behind := ""
				if c.token != nil {
					behind = hashOf(9)
					token := *c.token
					token.Hash, token.Owner, token.Name = behind, "alice", "laptop"
					write(t, s, func(tx *store.Tx) error { return tx.CreateToken(ctx, &token) })
				}
				signIn(t, s, hashOf(1), behind)
				if c.change != nil {
					write(t, s, c.change)
				}
				if c.execute != "" {
					execute(t, address, c.execute)
				}
				found, err := signedIn(t, s, "alice", hashOf(1))
				if err != nil || found.Ended != c.ended || found.Disabled != c.off {
					t.Fatalf("%+v, %v", found, err)
				}
				if c.token != nil && c.token.ExpiresAt != 0 && found.ExpiresAt != hour {
					t.Errorf("it expires at %v, the token at %v", found.ExpiresAt, hour)
				}
				write(t, s, func(tx *store.Tx) error {
					all, err := tx.Sessions(ctx, "alice")
					if shown := len(all) == 1; shown == c.ended {
						t.Errorf("listed: %v", all)
					}
					return err
				})
			})
		})
	}
}

func TestSession_IsFoundByUserAndHash(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		write(t, s, func(tx *store.Tx) error { return tx.CreateAccount(ctx, "bob", store.KindUser) })
		signIn(t, s, hashOf(1), "")
		for _, other := range [][2]string{{"bob", hashOf(1)}, {"alice", hashOf(2)}, {"", hashOf(1)}} {
			if _, err := signedIn(t, s, other[0], other[1]); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%v: %v", other, err)
			}
		}
		err := s.Write(ctx, func(tx *store.Tx) error {
			return tx.CreateSession(ctx, &store.Session{User: "acme", Hash: hashOf(3)})
		})
		var kind *store.KindError
		if !errors.As(err, &kind) {
			t.Errorf("an org signs in: %v", err)
		}
		write(t, s, func(tx *store.Tx) error {
			if ended, err := tx.EndSession(ctx, "bob", hashOf(1)); ended || err != nil {
				t.Errorf("%v, %v", ended, err)
			}
			ended, err := tx.EndSession(ctx, "alice", hashOf(1)[:12])
			if !ended {
				t.Error("the session was not ended")
			}
			return err
		})
		if _, err := signedIn(t, s, "alice", hashOf(1)); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestSession_RevokingAllTokensEndsSessions(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		signIn(t, s, hashOf(1), "")
		write(t, s, func(tx *store.Tx) error { _, err := tx.RevokeTokensOf(t.Context(), "alice"); return err })
		if _, err := signedIn(t, s, "alice", hashOf(1)); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestSession_KeepsBoundedNumberPerUser(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		signIn(t, s, hashOf(0), "")
		execute(t, address, "UPDATE sessions SET expires_at = 1")
		for i := range 60 {
			signIn(t, s, hashOf(i+1), "")
			execute(t, address, fmt.Sprintf("UPDATE sessions SET seen_at = created_at + %d WHERE hash = '%s'", i, hashOf(i+1)))
		}
		write(t, s, func(tx *store.Tx) error {
			all, err := tx.Sessions(t.Context(), "alice")
			if len(all) != 50 || slices.ContainsFunc(all, func(s store.SignedIn) bool { return s.Hash <= hashOf(10) }) {
				t.Errorf("%d sessions are kept, the first %s", len(all), all[0].Hash)
			}
			return err
		})
	})
}

func TestSession_TouchKeepsItAlive(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		signIn(t, s, hashOf(1), "")
		execute(t, address, fmt.Sprintf("UPDATE sessions SET seen_at = seen_at - %d", 2*time.Minute.Microseconds()))
		if found, err := signedIn(t, s, "alice", hashOf(1)); err != nil || !found.Stale {
			t.Errorf("%+v, %v", found, err)
		}
		write(t, s, func(tx *store.Tx) error {
			return tx.TouchSessions(t.Context(), []store.SessionKey{{User: "alice", Hash: hashOf(1)}, {User: "nobody", Hash: hashOf(2)}})
		})
		if found, err := signedIn(t, s, "alice", hashOf(1)); err != nil || found.Stale {
			t.Errorf("%+v, %v", found, err)
		}
	})
}
