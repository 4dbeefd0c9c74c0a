package api_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/api"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// hub serves the API, with the org acme, on which anna is admin, alice writer and rita reader, and a
// stranger, sam.
type hub struct {
	testing.TB
	store *store.Store
	http  http.Handler
}

// each runs f on a fresh hub, once a database.
func each(t *testing.T, f func(h *hub)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, address string) {
		t.Parallel()
		f(newHub(t, address, request.DefaultLimits))
	})
}

func newHub(t testing.TB, address string, limits request.Limits) *hub {
	t.Helper()
	s, err := store.Open(t.Context(), address, store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	shared, err := request.New(request.Config{
		Store: s, PublicURL: "http://hub.test", Version: "test", Log: slog.New(slog.DiscardHandler), Limits: limits,
		Fetch: fetch.New(fetch.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	shared.AddDeleted = api.AddDeleted
	router := httprouter.New()
	for op, handle := range api.Handlers(api.NewWatches(s)) {
		e := op.Endpoint()
		router.Handle(e.Method, request.Pattern(e), shared.Handle(e.Method, e, handle))
	}
	h := &hub{t, s, router}
	h.write(func(tx *store.Tx) error {
		if err := tx.CreateAccount("acme", store.KindOrg); err != nil {
			return err
		}
		for name, role := range map[string]string{"anna": "admin", "alice": "writer", "rita": "reader", "sam": ""} {
			if err := tx.CreateAccount(name, store.KindUser); err != nil {
				return err
			}
			if role == "" {
				continue
			}
			if err := tx.SetMember("acme", name, role); err != nil {
				return err
			}
		}
		return nil
	})
	return h
}

func (h *hub) write(f func(tx *store.Tx) error) {
	h.Helper()
	if err := h.store.Write(h.Context(), f); err != nil {
		h.Fatal(err)
	}
}

// caller sends requests with a token; "": without one.
type caller struct {
	hub   *hub
	token string
}

// as returns user with a token that has every scope, and may use only what is given; the zero
// value: all.
func (h *hub) as(user string, only ...store.Restriction) caller {
	h.Helper()
	token, scopes := pat.New(), []string{}
	for _, s := range wire.Scopes {
		scopes = append(scopes, string(s))
	}
	owner, err := h.store.View(h.Context()).Account(user)
	if err != nil {
		h.Fatal(err)
	}
	t := store.Token{
		Hash: pat.Hash(token), Shown: pat.Shown(token), Name: "test", AccountID: owner.ID, Scopes: strings.Join(scopes, " "),
	}
	if len(only) > 0 {
		t.Only = only[0]
	}
	h.write(func(tx *store.Tx) error { c := t; return tx.CreateToken(&c) })
	return caller{h, token}
}

// answer is a response.
type answer struct {
	hub *hub
	*httptest.ResponseRecorder
}

// do sends a request. The body is JSON as a string, or becomes JSON, or is a tar.
func (c caller) do(method, path string, body any) answer {
	c.hub.Helper()
	mediaType, content := "application/json", io.Reader(nil)
	switch body := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(body)
	case []byte:
		mediaType, content = "application/x-tar", bytes.NewReader(body)
	default:
		text, err := wire.Encode(body)
		if err != nil {
			c.hub.Fatal(err)
		}
		content = bytes.NewReader(text)
	}
	r := httptest.NewRequestWithContext(c.hub.Context(), method, path, content)
	if content != nil {
		r.Header.Set("Content-Type", mediaType)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	w := httptest.NewRecorder()
	c.hub.http.ServeHTTP(w, r)
	return answer{c.hub, w}
}

// want fails the test unless the response has this status.
func (a answer) want(status int) answer {
	a.hub.Helper()
	if a.Code != status {
		a.hub.Fatalf("status %d, want %d: %s", a.Code, status, a.Body)
	}
	return a
}

// problem fails the test unless the response is a problem of this status and code.
func (a answer) problem(status int, code wire.Code) wire.Problem {
	a.hub.Helper()
	p := decoded[wire.Problem](a.want(status))
	if p.Code != code {
		a.hub.Fatalf("code %s, want %s: %s", p.Code, code, a.Body)
	}
	return p
}

func decoded[T any](a answer) (v T) {
	a.hub.Helper()
	if err := wire.Decode(a.Body.Bytes(), &v); err != nil {
		a.hub.Fatalf("%v in %s", err, a.Body)
	}
	return v
}

const (
	web  = "/v1/projects/acme/web"
	site = "/v1/stacks/acme/site"
	pets = `{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1.0"}, "paths": {}}`

	newWeb = `{"account": "acme", "slug": "web", "stack": "acme/site", "api": {"account": "acme", "slug": "pets"}}`
)

// bundle is a tar of a version of @acme/site.
func bundle(h *hub, version string, more ...string) []byte {
	h.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	files := append([]string{fmt.Sprintf(`{"name": "@acme/site", "version": %q}`, version)}, more...)
	for i, content := range files {
		name := "stack.json"
		if i > 0 {
			name = fmt.Sprint("file", i)
		}
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))})
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			h.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		h.Fatal(err)
	}
	return b.Bytes()
}

// project creates @acme/web with all that it binds, and returns its creator.
func (h *hub) project() caller {
	h.Helper()
	alice := h.as("alice")
	alice.do("PUT", site+"/versions/1.0.0", bundle(h, "1.0.0")).want(201)
	alice.do("POST", "/v1/apis/upload?account=acme&slug=pets", pets).want(201)
	alice.do("POST", "/v1/projects", newWeb).want(201)
	return alice
}
