package hubclient_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// downloads are the calls whose response is not JSON.
func downloads() map[wire.Op]func(context.Context, *hubclient.Client) error {
	return map[wire.Op]func(context.Context, *hubclient.Client) error{
		wire.OpPreviewAPI: func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.PreviewAPI(ctx, project)
			return err
		},
		wire.OpGetBaseFilesArchive: func(ctx context.Context, c *hubclient.Client) error {
			files, _ := someFiles()
			return c.DownloadBaseFiles(ctx, project, &wire.BaseFiles{Files: files},
				func(tree.Entry, io.Reader) error { return nil })
		},
	}
}

// Each call is one of the table's endpoints, and has an Idempotency-Key where that says so.
func TestCalls_AreEndpointsOfTheTable(t *testing.T) {
	record := func(w http.ResponseWriter, r *http.Request) {
		known := slices.ContainsFunc(wire.Endpoints, func(e wire.Endpoint) bool {
			pattern := "^" + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(e.Path, "[^/]+") + "$"
			return regexp.MustCompile(pattern).MatchString(r.URL.Path) && e.Method == r.Method &&
				e.Keyed == (r.Header.Get("Idempotency-Key") != "")
		})
		if !known {
			t.Errorf("%s %s with Idempotency-Key %q", r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"))
		}
		io.Copy(io.Discard, r.Body)
		refuse(w, 403, wire.CodeNotPermitted)
	}
	all := downloads()
	for _, c := range allCalls() {
		all[wire.Op(c.name)] = c.do
	}
	hub := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) { record(w, r) })
	hub.plan = record
	all["plan"] = func(ctx context.Context, c *hubclient.Client) error {
		files, open := someFiles()
		_, err := c.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(ctx)
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		wantCode(t, all[name](t.Context(), hub.Client), wire.CodeNotPermitted)
	}
}

func TestPreviewAPI_ReturnsTheBody(t *testing.T) {
	mediaType := "application/json"
	hub := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
		if accept := r.Header.Get("Accept"); accept != "application/json, application/problem+json" {
			t.Errorf("Accept is %q", accept)
		}
		w.Header().Set("Hub-Version", "1")
		w.Header().Set("Content-Type", mediaType+"; charset=utf-8")
		io.WriteString(w, "some bytes")
	})
	if got, err := hub.PreviewAPI(t.Context(), project); err != nil || string(got) != "some bytes" {
		t.Errorf("%q, %v", got, err)
	}
	mediaType = "image/png"
	_, err := hub.PreviewAPI(t.Context(), project)
	wantCode(t, err, notAHub)
}
