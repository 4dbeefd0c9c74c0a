package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
	"example.com/projecthub/store/storetest"
)

// people is a store with the org acme, whose admins are anna and rita, and the users alice, a writer, and sam.
type people struct {
	*testing.T
	*store.Store
	other *store.Store // on the same database; of SQLite the same
	ids   map[string]int64
}

func eachPeople(t *testing.T, f func(p *people)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, address string) {
		t.Parallel()
		p := &people{T: t, Store: open(t, address), ids: map[string]int64{}}
		if p.other = p.Store; p.IsPostgres() {
			p.other = open(t, address)
		}
		p.must(func(tx *store.Tx) error {
			return errors.Join(tx.CreateAccount("acme", store.KindOrg), tx.CreateAccount("anna", store.KindUser),
				tx.CreateAccount("rita", store.KindUser), tx.CreateAccount("alice", store.KindUser),
				tx.CreateAccount("sam", store.KindUser), tx.SetMember("acme", "anna", "admin"),
				tx.SetMember("acme", "rita", "admin"), tx.SetMember("acme", "alice", "writer"))
		})
		for _, name := range []string{"acme", "anna", "rita", "alice", "sam"} {
			a, err := p.view().Account(name)
			if err != nil {
				t.Fatal(err)
			}
			p.ids[name] = a.ID
		}
		f(p)
	})
}

// must runs f in a transaction, which must be committed.
func (p *people) must(f func(tx *store.Tx) error) {
	p.Helper()
	p.fails(nil, f)
}

// fails runs f in a transaction, which must fail with an error.
func (p *people) fails(want error, f func(tx *store.Tx) error) {
	p.Helper()
	if err := p.Write(p.Context(), f); !errors.Is(err, want) {
		p.Fatalf("%v, want %v", err, want)
	}
}

func (p *people) view() store.View { return p.View(p.Context()) }

func (p *people) sql(text string, args ...any) {
	p.Helper()
	err := p.DB.Write(p.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(text, args...)
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
}

func (p *people) count(query string, args ...any) (n int) {
	p.Helper()
	if err := p.view().One(sqldb.Row(&n), "SELECT count(*) FROM "+query, args...); err != nil {
		p.Fatal(err)
	}
	return n
}

// project adds a row of a project of acme, as far as tokens know one.
func (p *people) project(slug string) (id int64) {
	p.Helper()
	p.must(func(tx *store.Tx) (err error) {
		id, err = tx.AddResource(p.ids["acme"], store.KindProject, slug, "anna")
		return err
	})
	return id
}

func hashOf(i int) string { return fmt.Sprintf("%064x", i) }

// token stores a token of a user.
func (p *people) token(i int, t store.Token) store.Token {
	p.Helper()
	t.Hash, t.Shown = hashOf(i)+"x", "hubpat_"
	if t.Owner == "" {
		t.Owner = "alice"
	}
	p.must(func(tx *store.Tx) error { return tx.CreateToken(&t) })
	return t
}

func (p *people) access(a store.AccessQuery) *store.Access {
	p.Helper()
	found, err := p.view().Access(a)
	if err != nil {
		p.Fatal(err)
	}
	return found
}

// atOnce runs f n times at the same time, on both stores in turn.
func (p *people) atOnce(n int, f func(s *store.Store, i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f([]*store.Store{p.Store, p.other}[i%2], i) })
	}
	all.Wait()
}

func TestAccess_RoleAndRestriction(t *testing.T) {
	eachPeople(t, func(p *people) {
		web := p.project("web")
		p.project("docs")
		acme := p.ids["acme"]
		p.must(func(tx *store.Tx) error {
			bot := &store.Bot{AccountID: acme, BotRefID: "@acme/ci", CreatedBy: "anna", UpdatedBy: "anna"}
			if err := tx.AddBot(bot); err != nil {
				return err
			}
			return tx.CreateToken(&store.Token{Hash: "bot", Owner: "acme", BotID: bot.ID})
		})
		p.token(1, store.Token{Scopes: "write:config"})
		p.token(2, store.Token{Only: store.Restriction{AccountID: acme}})
		p.token(3, store.Token{Only: store.Restriction{AccountID: acme, ResourceID: web}})
		p.token(4, store.Token{Owner: "sam"})
		for _, c := range []struct {
			token   int
			account string
			slug    string
			role    string
			found   bool
		}{
			{1, "alice", "", "admin", false}, {1, "acme", "", "writer", false}, {1, "acme", "web", "writer", true},
			{1, "acme", "none", "writer", false}, {1, "nobody", "web", "", false}, {1, "sam", "web", "", false},
			{2, "alice", "", "", false}, {2, "acme", "", "writer", false}, {2, "acme", "docs", "writer", true},
			{3, "alice", "", "", false}, {3, "acme", "", "", false}, {3, "acme", "docs", "", false},
			{3, "acme", "web", "writer", true},
			{4, "acme", "web", "", false}, {4, "sam", "", "admin", false},
			{0, "acme", "web", "writer", true}, {0, "alice", "", "", false},
		} {
			hash := hashOf(c.token) + "x"
			if c.token == 0 {
				hash = "bot"
			}
			a := p.access(store.AccessQuery{Token: hash, Account: c.account, Kind: store.KindProject, Slug: c.slug})
			if a.Role != c.role || (a.Resource.ID != 0) != c.found {
				p.Errorf("%+v: role %q, resource %d", c, a.Role, a.Resource.ID)
			}
		}
		bot := p.access(store.AccessQuery{Token: "bot"})
		if !bot.IsBot() || bot.Name() != "@acme/ci" {
			p.Errorf("%+v", bot)
		}
		if only := p.access(store.AccessQuery{Token: hashOf(3) + "x"}).Only.String(); only != "@acme/web" {
			p.Error(only)
		}
	})
}

func TestCreateAccount_NameIsTakenOnce(t *testing.T) {
	eachPeople(t, func(p *people) {
		for round := range 5 {
			var created, taken sync.Map
			p.atOnce(8, func(s *store.Store, i int) {
				err := s.Write(p.Context(), func(tx *store.Tx) error {
					if err := tx.CreateAccount(fmt.Sprint("nora", round), store.KindUser); err != nil {
						return err
					}
					return tx.SetMember("acme", fmt.Sprint("nora", round), "reader")
				})
				switch {
				case err == nil:
					created.Store(i, true)
				case errors.Is(err, store.ErrExists):
					taken.Store(i, true)
				default:
					p.Error(err)
				}
			})
			n := 0
			created.Range(func(any, any) bool { n++; return true })
			if n != 1 {
				p.Errorf("it was created %d times", n)
			}
		}
	})
}

func TestMembers_KeepAnAdmin(t *testing.T) {
	eachPeople(t, func(p *people) {
		for range 5 {
			p.atOnce(2, func(s *store.Store, i int) {
				user := []string{"anna", "rita"}[i]
				err := s.Write(p.Context(), func(tx *store.Tx) error {
					if role, err := tx.LockMember("acme", user); err != nil || role != "admin" {
						return errors.Join(err, errors.New("no admin"))
					}
					if other, err := tx.HasOtherAdmin("acme", user); err != nil || !other {
						return err
					}
					_, err := tx.RemoveMember("acme", user)
					return err
				})
				if err != nil {
					p.Error(err)
				}
			})
			if n := p.count("members WHERE role = 'admin'"); n != 1 {
				p.Fatalf("acme has %d admins", n)
			}
			p.must(func(tx *store.Tx) error {
				return errors.Join(tx.SetMember("acme", "anna", "admin"), tx.SetMember("acme", "rita", "admin"))
			})
		}
		p.must(func(tx *store.Tx) error { _, err := tx.SetDisabled("rita", true); return err })
		if other, err := p.view().HasOtherAdmin("acme", "anna"); other || err != nil {
			p.Error("a disabled admin counts", err)
		}
	})
}

func TestMembers_NamesAndKinds(t *testing.T) {
	eachPeople(t, func(p *people) {
		p.fails(store.ErrNotFound, func(tx *store.Tx) error { return tx.SetMember("none", "alice", "reader") })
		err := p.Write(p.Context(), func(tx *store.Tx) error { return tx.SetMember("sam", "alice", "reader") })
		if _, ok := errors.AsType[*store.KindError](err); !ok || err.Error() != "sam is a user, not an org" {
			p.Error(err)
		}
		list, err := p.view().Members("acme", "alice", 1)
		if err != nil || len(list) != 1 || list[0] != (store.Member{User: "anna", Account: "acme", Role: "admin"}) {
			p.Errorf("%+v, %v", list, err)
		}
		p.must(func(tx *store.Tx) error { _, err := tx.SetDisabled("acme", true); return err })
		if of, err := p.view().MembershipsOf(p.ids["alice"]); len(of) != 0 || err != nil {
			p.Error(of, err)
		}
		p.must(func(tx *store.Tx) error {
			if changed, err := tx.SetDisabled("acme", false); !changed || err != nil {
				p.Error(changed, err)
			}
			existed, err := tx.RemoveMember("acme", "sam")
			if existed {
				p.Error("sam was a member")
			}
			return err
		})
	})
}

func TestDue_OneHubRunsATask(t *testing.T) {
	eachPeople(t, func(p *people) {
		for run, want := range []bool{true, false} {
			if ours, err := p.OrderCertificate(p.Context(), "hub.example.com"); ours != want || err != nil {
				p.Errorf("run %d: %v, %v", run, ours, err)
			}
		}
		execute(p.T, p.Store, "UPDATE tasks SET ran_at = ran_at - ?", (2 * time.Minute).Microseconds())
		if ours, err := p.OrderCertificate(p.Context(), "hub.example.com"); !ours || err != nil {
			p.Errorf("a certificate that did not come is not ordered again: %v, %v", ours, err)
		}
	})
}

func TestCertificates_AreReplacedAndDeleted(t *testing.T) {
	eachPeople(t, func(p *people) {
		for _, data := range []string{"one", "two"} {
			p.must(func(tx *store.Tx) error { return tx.PutCertificate("hub", []byte(data)) })
			if got, err := p.view().Certificate("hub"); string(got) != data || err != nil {
				p.Error(string(got), err)
			}
		}
		p.must(func(tx *store.Tx) error { return tx.DeleteCertificate("hub") })
		if _, err := p.view().Certificate("hub"); !errors.Is(err, store.ErrNotFound) {
			p.Error(err)
		}
	})
}
