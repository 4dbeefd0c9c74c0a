package app_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/status"
)

// notice is how an update notice about a hub of release 1.0.0 ends.
const notice = "to update it: go install example.com/projecthub/cmd/tool@v1.0.0\n"

// release makes this program one of a version until the test ends.
func release(t *testing.T, version string) {
	former := app.Version
	app.Version = version
	t.Cleanup(func() { app.Version = former })
}

func TestUpdateNotice_IsPrintedOnceADayAndHub(t *testing.T) {
	release(t, "0.9.0")
	w := apptest.New(t)
	w.Watched = true
	if r := w.Run(status.Command).Done(); strings.Count(r.Err, notice) != 1 || strings.Contains(r.Out, notice) {
		t.Errorf("%s%s", r.Out, r.Err)
	}
	if r := w.Run(status.Command).Done(); r.Err != "" {
		t.Errorf("again: %s", r.Err)
	}
	other := apptest.New(t) // with the state of the first
	other.Watched, other.Env["TOOL_STATE_DIR"] = true, w.Env["TOOL_STATE_DIR"]
	other.Run(status.Command).Done().Prints(other.Origin+" is of release 1.0.0, and this is tool 0.9.0", notice)
}

func TestUpdateNotice_IsForPeopleWithAnEarlierRelease(t *testing.T) {
	for name, set := range map[string]func(*apptest.World){
		"in a pipeline":        func(w *apptest.World) { w.Watched = false },
		"in CI":                func(w *apptest.World) { w.Env["CI"] = "true" },
		"not wanted":           func(w *apptest.World) { w.Env["TOOL_NO_UPDATE_NOTICE"] = "1" },
		"same release":         func(*apptest.World) { app.Version = "1.0.0" },
		"later release":        func(*apptest.World) { app.Version = "1.0.1" },
		"development":          func(*apptest.World) { app.Version = "0.0.0-dev" },
		"of a commit":          func(*apptest.World) { app.Version = "0.0.0-20261127213114-3c5c91adb13a" },
		"hub is a pre-release": func(w *apptest.World) { answerVersion(w, "1.1.0-rc.1") },
		"hub is malformed":     func(w *apptest.World) { answerVersion(w, "9.0.0; rm -rf") },
	} {
		t.Run(name, func(t *testing.T) {
			release(t, "0.9.0")
			w := apptest.New(t)
			w.Watched = true
			set(w)
			if r := w.Run(status.Command).Done(); strings.Contains(r.Err, "to update it") {
				t.Error(r.Err)
			}
		})
	}
}

// answerVersion has the hub state another version.
func answerVersion(w *apptest.World, version string) {
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		answer := httptest.NewRecorder()
		w.Hub.ServeHTTP(answer, r)
		maps.Copy(rw.Header(), answer.Header())
		rw.Header().Set("Hub-Version", version)
		rw.WriteHeader(answer.Code)
		_, _ = rw.Write(answer.Body.Bytes())
		return true
	})
}
