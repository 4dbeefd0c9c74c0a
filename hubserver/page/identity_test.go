package page_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// site serves the pages, with the org acme, on which anna is admin, and a stranger, sam.
type site struct {
	*testing.T
	store *store.Store
	hub   *request.Hub
	http  http.Handler
}

func eachSite(t *testing.T, f func(s *site)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, address string) {
		t.Parallel()
		opened, err := store.Open(t.Context(), address, store.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { opened.Close() })
		if _, err := opened.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		shared, err := request.New(request.Config{
			Store: opened, PublicURL: "http://hub.test", Version: "test", Log: slog.New(slog.DiscardHandler),
			Limits: request.DefaultLimits,
		})
		if err != nil {
			t.Fatal(err)
		}
		router := httprouter.New()
		handlers := page.Handlers()
		for _, e := range page.Endpoints() {
			router.Handle(e.Method, request.Pattern(&e), shared.Handle(e.Method, &e, handlers[e.Op]))
		}
		s := &site{t, opened, shared, router}
		s.write(func(tx *store.Tx) error {
			for name, kind := range map[string]string{"acme": store.KindOrg, "anna": store.KindUser, "sam": store.KindUser} {
				if err := tx.CreateAccount(name, kind); err != nil {
					return err
				}
			}
			return tx.SetMember("acme", "anna", "admin")
		})
		f(s)
	})
}

func (s *site) write(f func(tx *store.Tx) error) {
	s.Helper()
	if err := s.store.Write(s.Context(), f); err != nil {
		s.Fatal(err)
	}
}

func (s *site) account(name string) *store.Account {
	s.Helper()
	a, err := s.store.View(s.Context()).Account(name)
	if err != nil {
		s.Fatal(err)
	}
	return a
}

// token stores a token of sam, and returns it.
func (s *site) token(t store.Token) string {
	s.Helper()
	secret := pat.New()
	t.Hash, t.Shown, t.Name, t.Owner = pat.Hash(secret), pat.Shown(secret), "test", "sam"
	s.write(func(tx *store.Tx) error { t := t; return tx.CreateToken(&t) })
	return secret
}

// invitation stores an invitation of anna to acme, and returns its code.
func (s *site) invitation(role string) string {
	s.Helper()
	secret := request.NewSecret()
	link := store.Link{
		Account: "acme", Hash: pat.Hash(secret), Kind: store.LinkInvitation, Role: role, Page: "/@acme",
		CreatedByID: s.account("anna").ID,
	}
	s.write(func(tx *store.Tx) error { l := link; return tx.CreateLink(&l, store.AccountLinkLife) })
	return secret
}

// post sends a form, with the cookie of a session or "".
func (s *site) post(path, cookie string, fields ...string) *httptest.ResponseRecorder {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	r := httptest.NewRequestWithContext(s.Context(), "POST", path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", wire.FormType)
	if cookie != "" {
		r.AddCookie(&http.Cookie{Name: s.hub.CookieName(), Value: cookie})
	}
	w := httptest.NewRecorder()
	s.http.ServeHTTP(w, r)
	return w
}

// signIn returns the cookie of a session that begins with a token.
func (s *site) signIn(token string) string {
	s.Helper()
	w := s.post("/sign-in", "", "token", token)
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || len(cookies) != 1 || len(cookies[0].Value) != request.SecretLength {
		s.Fatalf("%d %v: %s", w.Code, cookies, w.Body)
	}
	return cookies[0].Value
}

func (s *site) role(user string) (role string) {
	s.Helper()
	err := s.store.Write(s.Context(), func(tx *store.Tx) (err error) {
		role, err = tx.LockMember("acme", user)
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return role
}

func TestUseLink_OneOfTwoGetsAName(t *testing.T) {
	eachSite(t, func(s *site) {
		for _, name := range []string{"nora", "nils", "nele"} {
			codes := []string{s.invitation("reader"), s.invitation("writer")}
			var statuses [2]int
			var both sync.WaitGroup
			for i, code := range codes {
				both.Go(func() { statuses[i] = s.post("/link", "", "code", code, "name", name).Code })
			}
			both.Wait()
			if statuses != [2]int{303, 422} && statuses != [2]int{422, 303} {
				t.Errorf("%s: %v", name, statuses)
			}
			if want := map[bool]string{true: "reader", false: "writer"}[statuses[0] == 303]; s.role(name) != want {
				t.Errorf("%s is %s, want %s", name, s.role(name), want)
			}
		}
	})
}

func TestUseLink_RightsOfTheSession(t *testing.T) {
	eachSite(t, func(s *site) {
		only := store.Restriction{AccountID: s.account("acme").ID}
		for name, c := range map[string]struct {
			token store.Token
			shows string // why it is refused; "": it is not
		}{
			"reads":      {store.Token{}, "This session can only read: it accepts no invitations."},
			"restricted": {store.Token{Scopes: "write:config", Only: only}, "is restricted to @acme"},
			"other":      {store.Token{Scopes: "write:config"}, ""},
		} {
			s.write(func(tx *store.Tx) error { _, err := tx.RemoveMember("acme", "sam"); return err })
			code := s.invitation("writer")
			w := s.post("/link", s.signIn(s.token(c.token)), "code", code)
			if c.shows == "" {
				if w.Code != 303 || s.role("sam") != "writer" {
					t.Errorf("%s: %d, the role is %q", name, w.Code, s.role("sam"))
				}
				continue
			}
			if w.Code != 403 || !strings.Contains(w.Body.String(), c.shows) || s.role("sam") != "" {
				t.Errorf("%s: %d, the role is %q: %s", name, w.Code, s.role("sam"), w.Body)
			}
			if w := s.post("/link", "", "code", code, "name", name); w.Code != 303 {
				t.Errorf("%s: what was refused cannot be used: %d", name, w.Code)
			}
		}
	})
}
