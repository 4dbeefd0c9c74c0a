package hubclient_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// downloads are the calls whose response is not JSON.
func downloads() map[wire.Op]func(context.Context, *hubclient.Client) ([]byte, error) {
	all := map[wire.Op]func(context.Context, *hubclient.Client) ([]byte, error){
		wire.OpGetDocument: func(ctx context.Context, c *hubclient.Client) ([]byte, error) { return c.APIDocument(ctx, project) },
		wire.OpGetBundle: func(ctx context.Context, c *hubclient.Client) ([]byte, error) {
			return c.Bundle(ctx, project, "1.0.0")
		},
		wire.OpPreviewStack: func(ctx context.Context, c *hubclient.Client) ([]byte, error) {
			return c.PreviewStack(ctx, project, "")
		},
		wire.OpPreviewAPI: func(ctx context.Context, c *hubclient.Client) ([]byte, error) { return c.PreviewAPI(ctx, project) },
		wire.OpStatic:     func(ctx context.Context, c *hubclient.Client) ([]byte, error) { return c.StaticFile(ctx, "style.css") },
		wire.OpGetFileSchema: func(ctx context.Context, c *hubclient.Client) ([]byte, error) {
			return c.FileSchema(ctx, "client.json")
		},
		wire.OpGetSettingsSchema: func(ctx context.Context, c *hubclient.Client) ([]byte, error) {
			return c.SettingsSchema(ctx, project, "1.0.0")
		},
		wire.OpGetEvents: func(ctx context.Context, c *hubclient.Client) ([]byte, error) {
			return nil, c.Events(ctx, project, func(hubclient.Event) error { return nil })
		},
		wire.OpGetBaseFilesArchive: func(ctx context.Context, c *hubclient.Client) ([]byte, error) {
			files, _ := someFiles()
			return nil, c.DownloadBaseFiles(ctx, project, &wire.BaseFiles{Files: files}, func(tree.Entry, io.Reader) error { return nil })
		},
	}
	for _, e := range wire.Endpoints {
		if slices.Equal(e.Returns, wire.HTML) && e.Method == http.MethodGet {
			about, values := project, []string(nil)
			if n := strings.Count(e.Path, "{"); n < 2 {
				about, values = ref.Ref{}, []string{"acme"}[:n]
			} else if n > 2 {
				values = []string{"index.html"}
			}
			all[e.Op] = func(ctx context.Context, c *hubclient.Client) ([]byte, error) {
				return c.Page(ctx, e.Op, about, values...)
			}
		}
	}
	return all
}

func TestEndpoints_HaveClientMethods(t *testing.T) {
	called := map[wire.Op]bool{}
	record := func(w http.ResponseWriter, r *http.Request) {
		for _, e := range wire.Endpoints {
			pattern := "^" + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(e.Path, "[^/]+") + "$"
			if found := regexp.MustCompile(pattern).MatchString(r.URL.Path); found && e.Method == r.Method {
				if called[e.Op] = true; e.Keyed != (r.Header.Get("Idempotency-Key") != "") {
					t.Errorf("%s: Idempotency-Key %q", e.Op, r.Header.Get("Idempotency-Key"))
				}
			}
		}
		io.Copy(io.Discard, r.Body)
		refuse(w, 403, wire.CodeNotPermitted)
	}
	all := map[string]func(context.Context, *hubclient.Client) error{}
	for _, c := range allCalls() {
		all[c.name] = c.do
	}
	for op, do := range downloads() {
		all[string(op)] = func(ctx context.Context, c *hubclient.Client) error { _, err := do(ctx, c); return err }
	}
	hub := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) { record(w, r) })
	hub.plan = record
	all["plan"] = func(ctx context.Context, c *hubclient.Client) error {
		files, open := someFiles()
		_, err := c.PutBaseFiles(ctx, project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open})
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		wantCode(t, all[name](t.Context(), hub.Client), wire.CodeNotPermitted)
	}
	for _, e := range wire.Endpoints {
		if form := slices.Equal(e.Returns, wire.HTML) && e.Method != http.MethodGet; !called[e.Op] && !form {
			t.Errorf("no method calls %s: %s %s", e.Op, e.Method, e.Path)
		}
	}
}

func TestDownloads_ReturnTheBody(t *testing.T) {
	for op, do := range downloads() {
		if op == wire.OpGetBaseFilesArchive || op == wire.OpGetEvents {
			continue // has tests of its own
		}
		t.Run(string(op), func(t *testing.T) {
			e := op.Endpoint()
			mediaType, body := e.Returns[0], "some bytes"
			handle := func(w http.ResponseWriter, r *http.Request) {
				if accept := r.Header.Get("Accept"); !strings.HasPrefix(accept, e.Returns[0]) {
					t.Errorf("Accept is %q", accept)
				}
				w.Header().Set("Hub-Version", "1")
				w.Header().Set("Content-Type", mediaType+"; charset=utf-8")
				io.WriteString(w, body)
			}
			hub := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) { handle(w, r) })
			if got, err := do(t.Context(), hub.Client); err != nil || string(got) != body {
				t.Errorf("%q, %v", got, err)
			}
			mediaType = "image/png"
			_, err := do(t.Context(), hub.Client)
			wantCode(t, err, notAHub)
		})
	}
}

func TestPage_OfPrivateProjectIsNotFound(t *testing.T) {
	hub := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
		w.Header().Set("Hub-Version", "1")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(404)
	})
	_, err := hub.Page(t.Context(), wire.OpConfigPage, project)
	wantCode(t, err, wire.CodeNotFound)
	var e *hubclient.Error
	if !errors.As(err, &e) || e.Status != 404 {
		t.Errorf("%+v", e)
	}
}
