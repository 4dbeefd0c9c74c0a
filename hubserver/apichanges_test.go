package hubserver_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func TestPutDocument_ReplacesTheDescription(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		first := decoded[wire.API](alice.post("/v1/apis/upload?account=acme&slug=pets", pets).want(201))
		path := "/v1/apis/acme/pets"
		if same := decoded[wire.API](alice.put(path+"/document", pets).want(200)); !reflect.DeepEqual(same, first) {
			t.Errorf("the same description made %+v of %+v", same, first)
		}
		large := []byte("openapi: 3.0.3\ninfo: {title: Pet Shop, version: '2'}\npaths: {}\n#" + strings.Repeat("x", 600<<10))
		for _, text := range [][]byte{large, []byte(petsYAML)} {
			got := decoded[wire.API](alice.put(path+"/document", typed{"application/yaml", text}).want(200))
			if got.Title != "Pet Shop" || got.SHA256 != sha(text) || got.UpdatedBy != "alice" || got.UpdatedAt.IsZero() ||
				got.CreatedAt != first.CreatedAt {
				t.Errorf("%+v", got)
			}
			if read := decoded[wire.API](hub.as("rita").get(path).want(200)); !reflect.DeepEqual(read, got) {
				t.Errorf("a reader sees %+v, not %+v", read, got)
			}
			if doc := hub.as("rita").get(path + "/document").want(200); !bytes.Equal(doc.body, text) ||
				doc.header.Get("Content-Type") != "application/yaml" {
				t.Errorf("the document is %.50s, %s", doc.body, doc.header.Get("Content-Type"))
			}
		}
		p := alice.put(path+"/document", `{"openapi": "3.1.0"}`).problem(422, wire.CodeInvalidDescription)
		if len(p.Errors) == 0 {
			t.Errorf("%+v", p)
		}
		alice.put("/v1/apis/acme/none/document", pets).problem(404, wire.CodeNotFound)
		hub.as("rita").put(path+"/document", pets).problem(403, wire.CodeNotPermitted)
		alice.put(path+"/document", typed{"text/plain", []byte(pets)}).problem(415, wire.CodeUnsupportedMediaType)
		alice.put(path+"/document", typed{"", make([]byte, 16<<20+1)}).problem(413, wire.CodeTooLarge)
	})
}

func TestPutDocument_FetchesAnAddress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, petsYAML) }))
	defer server.Close()
	hub := one(t, importer(server))
	alice := hub.as("alice")
	alice.post("/v1/apis/upload?account=acme&slug=pets", pets).want(201)
	const document = "/v1/apis/acme/pets/document"
	got := decoded[wire.API](alice.put(document+"?url="+url.QueryEscape(server.URL), nil).want(200))
	if got.Title != "Pet Shop" || got.SHA256 != sha([]byte(petsYAML)) {
		t.Errorf("%+v", got)
	}
	alice.put(document+"?url=ftp://example.com", nil).problem(422, wire.CodeInvalidBody)
	alice.put(document+"?url="+url.QueryEscape("http://127.0.0.1:1/"), nil).problem(422, wire.CodeAddressRefused)
}

func TestDeleteAPI_RefusesOneThatProjectsUse(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		root := hub.as("anna")
		p := root.delete("/v1/apis/acme/pets").problem(409, wire.CodeAPIInUse)
		if len(p.Errors) != 1 || p.Errors[0].Detail != "@acme/web" {
			t.Errorf("%+v", p)
		}
		root.delete(web).want(200)
		for _, existed := range []bool{true, false} {
			if got := decoded[wire.DeletedAPI](root.delete("/v1/apis/acme/pets").want(200)); got.Existed != existed {
				t.Errorf("%+v", got)
			}
		}
		root.get("/v1/apis/acme/pets/document").problem(404, wire.CodeNotFound)
		root.delete("/v1/apis/acme/A%20b").problem(404, wire.CodeNotFound)
		root.post("/v1/projects", newProject("other")).problem(422, wire.CodeAPINotFound)
	})
}

func TestDeleteAPI_NamesNoProjectOfADisabledAccount(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		root := hub.as("anna")
		root.delete(web).want(200)
		open := newProject("open")
		open.Account, open.Visibility = "alice", wire.Public
		hub.as("alice").post("/v1/projects", open).want(201)
		named := func(want string) {
			t.Helper()
			p := root.delete("/v1/apis/acme/pets").problem(409, wire.CodeAPIInUse)
			if len(p.Errors) != 1 || p.Errors[0].Detail != want || !strings.Contains(p.Detail, want) {
				t.Errorf("%+v, want %s", p, want)
			}
		}
		named("@alice/open")
		hub.write(func(tx *store.Tx) error {
			_, err := tx.SetDisabled("alice", true)
			return err
		})
		named("1 that you cannot see")
	})
}
