package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

func link(t *testing.T, s *store.Store, hash string) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		return tx.CreateLink(t.Context(), &store.Link{Account: "alice", Hash: hash, Kind: store.LinkSignIn}, store.AccountLinkLife)
	})
}

func use(t *testing.T, s *store.Store, hash string) (used bool) {
	t.Helper()
	write(t, s, func(tx *store.Tx) (err error) {
		used, err = tx.UseLink(t.Context(), "alice", hash)
		return err
	})
	return used
}

func TestLink_IsUsedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		replica := storetest.Open(t, address)
		for round := range 10 {
			link(t, s, hashOf(round))
			var used atomic.Int32
			var group sync.WaitGroup
			for i := range 8 {
				group.Go(func() {
					if use(t, []*store.Store{s, replica}[i%2], hashOf(round)) {
						used.Add(1)
					}
				})
			}
			group.Wait()
			if used.Load() != 1 {
				t.Fatalf("it was used %d times", used.Load())
			}
		}
	})
}

func TestLink_EndsAndIsBounded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s, ctx := open(t, address), t.Context()
		link(t, s, hashOf(1))
		execute(t, address, "UPDATE links SET expires_at = 1")
		if use(t, s, hashOf(1)) || use(t, s, hashOf(2)) {
			t.Error("a link that has expired, or does not exist, was used")
		}
		for i := range 100 {
			link(t, s, hashOf(10+i))
		}
		another := func(tx *store.Tx) error {
			return tx.CreateLink(ctx, &store.Link{Account: "alice", Hash: hashOf(500), Kind: store.LinkSignIn}, store.PageLinkLife)
		}
		if err := s.Write(ctx, another); !errors.Is(err, store.ErrTooMany) {
			t.Errorf("%v", err)
		}
		use(t, s, hashOf(10))
		write(t, s, another)
		for kind, account := range map[string]string{store.LinkSignIn: "acme", store.LinkInvitation: "alice"} {
			var wrong *store.KindError
			err := s.Write(ctx, func(tx *store.Tx) error {
				return tx.CreateLink(ctx, &store.Link{Account: account, Hash: hashOf(600), Kind: kind}, store.PageLinkLife)
			})
			if !errors.As(err, &wrong) {
				t.Errorf("%s of %s: %v", kind, account, err)
			}
		}
		write(t, s, func(tx *store.Tx) error { _, err := tx.RevokeTokensOf(ctx, "alice"); return err })
		if use(t, s, hashOf(11)) {
			t.Error("it outlives the revocation of everything")
		}
	})
}

func TestMintToken_EndsWithItsParent(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		mint := func(i int, parent string) error {
			return s.Write(ctx, func(tx *store.Tx) error {
				return tx.MintToken(ctx, &store.Token{Hash: hashOf(i) + "x", Name: fmt.Sprint("token ", i), Owner: "alice"}, parent)
			})
		}
		parents := map[int]int{2: 1, 3: 2, 4: 3, 5: 1, 7: 6}
		for i := range 8 {
			parent := ""
			if p, ok := parents[i]; ok {
				parent = hashOf(p) + "x"
			}
			if err := mint(i, parent); err != nil {
				t.Fatal(err)
			}
		}
		write(t, s, func(tx *store.Tx) error { // it does not outlive its parent, but there is nothing to end
			return tx.MintToken(ctx, &store.Token{Hash: hashOf(8) + "x", Owner: "alice", ExpiresAt: 1}, hashOf(2)+"x")
		})
		revoke := func(i int) (with string) {
			var ended *store.RevokedToken
			write(t, s, func(tx *store.Tx) (err error) {
				if ended, err = tx.RevokeToken(ctx, hashOf(i)+"x"); err != nil {
					return err
				}
				return tx.AuditRevocation(ctx, store.AuditRow{Account: "alice", Actor: "hub"}, ended)
			})
			for _, token := range ended.With {
				if token.Name != "token "+token.Hash[63:64] || token.Owner != "alice" || token.RevokedAt == 0 {
					t.Errorf("%+v", token)
				}
				with += fmt.Sprint(" ", token.Hash[63:64])
			}
			return with
		}
		if got := revoke(2); got != " 3 4" {
			t.Errorf("revoked with 2:%s", got)
		}
		write(t, s, func(tx *store.Tx) error {
			rows, err := tx.AuditRows(ctx, store.AuditFilter{Account: "alice", Action: "token.revoke", Limit: 10})
			got := map[string]int{}
			for _, row := range rows {
				got[row.Detail]++
			}
			if with := "revoked with " + hashOf(2)[:12]; len(rows) != 3 || got[""] != 1 || got[with] != 2 {
				t.Errorf("%v", got)
			}
			return err
		})
		if got := revoke(2); got != "" {
			t.Errorf("revoked with 2, again:%s", got)
		}
		revoked := func() (all string) {
			write(t, s, func(tx *store.Tx) error {
				tokens, err := tx.Tokens(ctx, "alice")
				for _, token := range tokens {
					if token.RevokedAt != 0 {
						all += fmt.Sprint(" ", token.Hash[63:64])
					}
				}
				return err
			})
			return all
		}
		if got := revoked(); got != " 2 3 4" {
			t.Errorf("revoked:%s", got)
		}
		if got := revoke(1); got != " 5" {
			t.Errorf("revoked with 1:%s", got)
		}
		if got := revoked(); got != " 1 2 3 4 5" {
			t.Errorf("revoked:%s", got)
		}
		for i := 10; ; i++ {
			if err := mint(i, ""); errors.Is(err, store.ErrTooMany) {
				if i != 10+200-3 {
					t.Errorf("the limit is at %d", i)
				}
				break
			} else if err != nil || i > 300 {
				t.Fatal(i, err)
			}
		}
	})
}

func TestRevokeOwnToken_LeavesOthersAlone(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		write(t, s, func(tx *store.Tx) error {
			return errors.Join(tx.CreateAccount(ctx, "bob", store.KindUser), tx.CreateToken(ctx, &store.Token{Hash: "0123456789ab", Owner: "bob"}),
				tx.CreateToken(ctx, &store.Token{Hash: "abcdef0123456789", Owner: "alice"}))
		})
		for _, id := range []string{"0123456789ab", "", "abcdef", "%", "abcdef0123456789"} {
			err := s.Write(ctx, func(tx *store.Tx) error {
				_, err := tx.RevokeOwnToken(ctx, "alice", id, store.Restriction{})
				return err
			})
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%q: %v", id, err)
			}
		}
		write(t, s, func(tx *store.Tx) error {
			token, err := tx.RevokeOwnToken(ctx, "alice", "abcdef012345", store.Restriction{})
			if err == nil && token.RevokedAt == 0 {
				t.Error("it is still valid")
			}
			return err
		})
	})
}
