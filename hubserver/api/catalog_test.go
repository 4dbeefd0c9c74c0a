package api_test

import (
	"archive/tar"
	"io"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

func TestDeleteProject_FreesTheName(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.project()
		first, err := h.store.View(t.Context()).ResourceByName("acme", store.KindProject, "web")
		if err != nil {
			t.Fatal(err)
		}
		only := store.Restriction{AccountID: first.AccountID, ResourceID: first.ID, Account: "acme", Slug: "web"}
		restricted := h.as("alice", only)
		restricted.do("GET", web, nil).want(200)
		alice.do("DELETE", web, nil).want(200)
		restricted.do("GET", web, nil).problem(401, wire.CodeTokenRevoked)
		if p := alice.do("GET", web, nil).problem(404, wire.CodeNotFound); !strings.Contains(p.Hint, "alice deleted it") {
			t.Errorf("hint %q", p.Hint)
		}
		alice.do("POST", "/v1/projects", newWeb).want(201)
		restricted.do("GET", web, nil).problem(401, wire.CodeTokenRevoked)
	})
}

func TestRestoreProject_UnderAnotherName(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.project()
		const restore = web + "/restore"
		alice.do("DELETE", web, nil).want(200)
		alice.do("POST", "/v1/projects", newWeb).want(201)
		p := alice.do("POST", restore, nil).problem(409, wire.CodeProjectExists)
		if !strings.Contains(p.Hint, "--as web-old") {
			t.Errorf("hint %q", p.Hint)
		}
		alice.do("POST", restore, `{"as": "Web"}`).problem(422, wire.CodeInvalidBody)
		r := decoded[wire.Restored](alice.do("POST", restore, `{"as": "web-old"}`).want(200))
		if r.Existed || r.Project.String() != "@acme/web-old" {
			t.Errorf("%+v", r)
		}
		for _, path := range []string{web, "/v1/projects/acme/web-old"} {
			alice.do("GET", path, nil).want(200)
		}
		alice.do("POST", restore, `{"as": "web-new"}`).problem(404, wire.CodeNotFound)
		if r := decoded[wire.Restored](alice.do("POST", restore, `{}`).want(200)); !r.Existed {
			t.Errorf("%+v", r)
		}
	})
}

// Only the one that was deleted last can be restored, and is listed.
func TestListDeletedProjects_HasEachNameOnce(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.project()
		for range 2 {
			alice.do("DELETE", web, nil).want(200)
			alice.do("POST", "/v1/projects", newWeb).want(201)
		}
		list := decoded[wire.DeletedProjects](alice.do("GET", "/v1/deleted-projects?limit=1", nil).want(200))
		if len(list.Projects) != 1 || list.NextCursor != "" {
			t.Errorf("%+v", list)
		}
	})
}

func TestPublish_RefusesBuildMetadata(t *testing.T) {
	h := newHub(t, storetest.SQLite(t), request.DefaultLimits)
	const number = "1.2.0+build.7"
	p := h.as("alice").do("PUT", site+"/versions/"+number, bundle(h, number)).problem(422, wire.CodeInvalidBody)
	if !strings.Contains(p.Detail, "build metadata") || !strings.Contains(p.Hint, "1.2.0") {
		t.Errorf("%q, %q", p.Detail, p.Hint)
	}
	h.as("alice").do("PUT", site+"/versions/1.2+build", bundle(h, "1.2+build")).problem(404, wire.CodeNotFound)
}

func TestPublish_TakesAPlainTarAndSendsOne(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.as("alice")
		body := bundle(h, "1.0.0", "one", "two")
		published := decoded[wire.Published](alice.do("PUT", site+"/versions/1.0.0", body).want(201))
		if !published.FirstVersion || published.FileCount != 3 {
			t.Errorf("%+v", published)
		}
		alice.do("PUT", site+"/versions/1.0.0", body).want(200)
		a := alice.do("GET", site+"/versions/1.0.0/bundle", nil).want(200)
		if a.Header().Get("ETag") != `"`+published.Digest+`"` || a.Header().Get("Content-Type") != "application/x-tar" {
			t.Errorf("%v", a.Header())
		}
		var got []string
		for r := tar.NewReader(a.Body); ; {
			header, err := r.Next()
			if err == io.EOF {
				break
			}
			content, err2 := io.ReadAll(r)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			got = append(got, header.Name+" "+string(content))
		}
		want := `file1 one|file2 two|stack.json {"name": "@acme/site", "version": "1.0.0"}`
		if strings.Join(got, "|") != want {
			t.Errorf("%v", got)
		}
	})
}

// A stack whose first version was refused does not exist.
func TestPublish_RefusedFirstVersionLeavesNoStack(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.as("alice")
		alice.do("PUT", site+"/versions/1.0.0", bundle(h, "2.0.0")).problem(422, wire.CodeInvalidBody)
		alice.do("GET", site, nil).problem(404, wire.CodeNotFound)
		alice.do("POST", "/v1/apis/upload?account=acme&slug=pets", pets).want(201)
		alice.do("POST", "/v1/projects", newWeb).problem(422, wire.CodeStackNotPublished)
		published := decoded[wire.Published](alice.do("PUT", site+"/versions/1.0.0", bundle(h, "1.0.0")).want(201))
		if !published.FirstVersion {
			t.Errorf("%+v", published)
		}
	})
}

// What never fits is refused before it is read.
func TestUploadAPI_LargerThanItsRoomIsTooLarge(t *testing.T) {
	limits := request.DefaultLimits
	limits.Memory = 8 << 20
	h := newHub(t, storetest.SQLite(t), limits)
	large := strings.Replace(pets, "Pets", strings.Repeat("x", 8<<20), 1)
	h.as("alice").do("POST", "/v1/apis/upload", large).problem(413, wire.CodeTooLarge)
}

// Its JSON form can need more room than there is, and does not.
func TestUploadAPI_YAMLThatFitsItsRoom(t *testing.T) {
	limits := request.DefaultLimits
	limits.Memory = 16 << 20 // 12 MiB of it for descriptions
	h := newHub(t, storetest.SQLite(t), limits)
	text := "openapi: 3.1.0\npaths: {}\nx-long: \"" + strings.Repeat("x", 1700<<10) + "\"\n"
	h.as("alice").do("POST", "/v1/apis/upload", text).want(201)
}
