package hubclient_test

import (
	"net/http"
	"testing"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// A hub says a new name by a redirect, or by the Content-Location of a write; for the same part of the project, in the
// account.
func TestPresentName(t *testing.T) {
	shop := must(ref.New("acme", "shop"))
	for location, want := range map[string]ref.Ref{
		"/v1/projects/acme/shop/client-config?dryRun=1": shop,
		"/v1/projects/acme/shop/client-config":          shop,
		"/v1/projects/acme/shop":                        project,
		"/v1/projects/bob/shop/client-config":           project,
		"/@acme/shop":                                   project,
		"":                                              project,
	} {
		written := wire.ConfigWritten{Project: project, Revision: former, Config: []byte("{}")}
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Content-Location", location)
			written.Project = want
			answer(w, http.StatusOK, written)
		})
		if _, err := b.CheckConfig(t.Context(), project, wire.PutConfig{}, ""); err != nil {
			t.Errorf("%q: %v", location, err)
		}
		if got := b.PresentName(project); got != want {
			t.Errorf("%q: %s, want %s", location, got, want)
		}
	}
}

// The former name may become that of another project.
func TestPresentName_EndsWhenTheFormerNameAnswers(t *testing.T) {
	p := wire.Project{Project: project, Stack: "acme/web", StackVersion: wire.Latest, API: project}
	b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			http.Redirect(w, r, "/v1/projects/acme/shop", http.StatusPermanentRedirect)
			return
		}
		p.Project, _ = ref.New("acme", r.URL.Path[len("/v1/projects/acme/"):])
		answer(w, http.StatusOK, p)
	})
	for _, want := range []string{"@acme/shop", project.String()} {
		if _, err := b.Project(t.Context(), project); err != nil {
			t.Fatal(err)
		}
		if got := b.PresentName(project); got.String() != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
