package store_test

import (
	"errors"
	"fmt"
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

func admission(t *testing.T, s *store.Store, asked store.Asked) (a *store.Admission, err error) {
	t.Helper()
	err = s.Read(t.Context(), func(v *store.View) (err error) { a, err = v.Admission(t.Context(), asked); return err })
	return a, err
}

func TestAdmission_ReadsTokenRoleAndConfig(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		writeConfig(t, s, web, by("alice", set(`{"title":"Pets"}`)))
		token := digestOf('a')
		write(t, s, func(tx *store.Tx) error {
			return errors.Join(tx.CreateToken(t.Context(), &store.Token{Hash: token, Owner: "alice", Scopes: "write:config"}),
				tx.SetMember(t.Context(), "acme", "alice", "writer"))
		})
		a, err := admission(t, s, store.Asked{Token: token, Account: "acme", Slug: "web", Body: 1000})
		if err != nil || a.Owner != "alice" || a.Scopes != "write:config" || a.Role != "writer" || !a.HasProject() {
			t.Errorf("a member's token: %+v, %v", a, err)
		}
		if c, err := a.ConfigOf(web); err != nil || c == nil || string(c.Body) != `{"title":"Pets"}` || c.UpdatedBy != "alice" || !c.HasConfig {
			t.Errorf("the config: %+v, %v", c, err)
		}
		if a, err = admission(t, s, store.Asked{Token: token, Account: "acme", Slug: "web", Body: 3}); err != nil || a.Body != nil || a.Size != 16 {
			t.Errorf("a config that is too large: %q of %d bytes, %v", a.Body, a.Size, err)
		}
		if a, err = admission(t, s, store.Asked{Token: token, Account: "acme", Slug: "none"}); err != nil || a.HasProject() || a.Role != "writer" {
			t.Errorf("no project: %+v, %v", a, err)
		}
		if a, err = admission(t, s, store.Asked{Token: token}); err != nil || a.Role != "" || a.HasProject() {
			t.Errorf("without an account: %+v, %v", a, err)
		}
		write(t, s, func(tx *store.Tx) error { _, err := tx.DisableAccount(t.Context(), "acme"); return err })
		if a, err = admission(t, s, store.Asked{Token: token, Account: "acme", Slug: "web"}); err != nil || a.Role != "" {
			t.Errorf("a disabled org: role %q, %v", a.Role, err)
		}
		if a.HasProject() || a.Size != 0 {
			t.Errorf("to strangers, a project is read: %+v", a)
		}
		if _, err := admission(t, s, store.Asked{Token: digestOf('b'), Account: "acme", Slug: "web"}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("an unknown token: %v", err)
		}
	})
}

func TestAdmission_ReadsAllThatAuthenticationNeedsOfAToken(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		project(t, s)
		token := store.Token{
			Hash: digestOf('a'), Shown: "hubpat_abcde", Name: "laptop", Owner: "alice", Scopes: "write:config",
			Restriction: store.Restriction{OnlyAccount: "acme", OnlySlug: "web"}, ExpiresAt: 1, RevokedAt: 2, LastUsedAt: 3,
		}
		write(t, s, func(tx *store.Tx) error { return tx.CreateToken(t.Context(), &token) })
		token.CreatedAt = 0
		if a, err := admission(t, s, store.Asked{Token: token.Hash}); err != nil || a.Token != token || a.Now == 0 {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

// The body is not copied from what the driver returns.
func TestAdmission_BodyStaysAsItWasRead(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		token := digestOf('a')
		write(t, s, func(tx *store.Tx) error {
			return errors.Join(tx.CreateToken(t.Context(), &store.Token{Hash: token, Owner: "alice", Scopes: "write:config"}),
				tx.SetMember(t.Context(), "acme", "alice", "writer"))
		})
		var bodies [][]byte
		for i := range 100 {
			writeConfig(t, s, web, by("alice", set(fmt.Sprintf(`{"n":"%04d"}`, i))))
			a, err := admission(t, s, store.Asked{Token: token, Account: "acme", Slug: "web", Body: 1000})
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, a.Body)
		}
		for i, body := range bodies {
			if want := fmt.Sprintf(`{"n":"%04d"}`, i); string(body) != want {
				t.Errorf("config %d has become %s", i, body)
			}
		}
	})
}

func TestAdmission_FindsDamagedConfig(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		write(t, s, func(tx *store.Tx) error {
			return errors.Join(tx.CreateToken(t.Context(), &store.Token{Hash: digestOf('a'), Owner: "alice"}), tx.SetMember(t.Context(), "acme", "alice", "reader"))
		})
		execute(t, address, "UPDATE configs SET body = '{\"a\":1}'")
		a, err := admission(t, s, store.Asked{Token: digestOf('a'), Account: "acme", Slug: "web", Body: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.ConfigOf(web); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("got %v, want ErrDamaged", err)
		}
	})
}

func TestAdmission_DoesNotNeedPreparedStatements(t *testing.T) {
	s := open(t, storetest.Postgres(t))
	write(t, s, func(tx *store.Tx) error {
		return tx.CreateToken(t.Context(), &store.Token{Hash: digestOf('a'), Owner: "alice"})
	})
	web := project(t, s)
	write(t, s, func(tx *store.Tx) error { return tx.SetMember(t.Context(), "acme", "alice", "reader") })
	writeConfig(t, s, web, by("alice", set(`{"title":"Pets"}`)))
	for range 3 {
		a, err := admission(t, s, store.Asked{Token: digestOf('a'), Account: "acme", Slug: "web", Body: 1000})
		if err != nil || a.Owner != "alice" || string(a.Body) != `{"title":"Pets"}` {
			t.Fatalf("%+v, %v", a, err)
		}
		if err := s.Deallocate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAdmission_FollowsChangesOfTheSchema(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		write(t, s, func(tx *store.Tx) error {
			return tx.CreateToken(t.Context(), &store.Token{Hash: digestOf('a'), Owner: "alice"})
		})
		for _, change := range []string{"ALTER TABLE tokens ADD COLUMN more TEXT", "ALTER TABLE accounts ADD COLUMN more TEXT"} {
			if a, err := admission(t, s, store.Asked{Token: digestOf('a')}); err != nil || a.Owner != "alice" {
				t.Fatalf("%+v, %v", a, err)
			}
			execute(t, address, change)
		}
		if a, err := admission(t, s, store.Asked{Token: digestOf('a')}); err != nil || a.Owner != "alice" {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

func TestIsPublic_OfWhatEveryoneMayRead(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		for _, c := range []struct {
			name   string
			change func(tx *store.Tx) error
			want   bool
		}{
			{"private", func(*store.Tx) error { return nil }, false},
			{"public", func(tx *store.Tx) error {
				_, err := tx.EditProject(t.Context(), web, func(p *store.Project) { p.Visibility = "public" })
				return err
			}, true},
			{"deleted", func(tx *store.Tx) error { _, err := tx.DeleteProject(t.Context(), web, "alice"); return err }, false},
			{"restored", func(tx *store.Tx) error { _, err := tx.RestoreProject(t.Context(), web); return err }, true},
			{"of a disabled account", func(tx *store.Tx) error { _, err := tx.DisableAccount(t.Context(), "acme"); return err }, false},
		} {
			write(t, s, c.change)
			err := s.Read(t.Context(), func(v *store.View) error {
				public, err := v.IsPublic(t.Context(), web)
				if none, err := v.IsPublic(t.Context(), mustRef(t, "@acme/none")); none || err != nil {
					t.Errorf("a project that does not exist: %v, %v", none, err)
				}
				if public != c.want {
					t.Errorf("%s: got %v", c.name, public)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
}
