package pull_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/pull"
)

// answering makes the hub answer with a config that it would not take.
func answering(w *apptest.World, config string) {
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/config") {
			return false
		}
		answer := httptest.NewRecorder()
		w.Hub.ServeHTTP(answer, r)
		maps.Copy(rw.Header(), answer.Header())
		rw.Header().Del("Content-Length")
		_, _ = io.WriteString(rw, strings.Replace(answer.Body.String(), `{"title":"hub"}`, config, 1))
		return true
	})
}

func wantNothingSaved(t *testing.T, w *apptest.World) {
	t.Helper()
	saved, err := filepath.Glob(filepath.Join(w.Env["TOOL_STATE_DIR"], "*", "*"))
	if err != nil || len(saved) > 0 {
		t.Errorf("saved: %v, %v", saved, err)
	}
}

func TestPull_RefusesAConfigThatMakesAHugeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes a second")
	}
	var wide strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&wide, `,%q:0`, fmt.Sprintf("%04d", i)+strings.Repeat(".k", 90))
	}
	for name, c := range map[string]struct{ config, reason string }{
		"one key of 9,000 levels":   {`{"k` + strings.Repeat(".k", 8999) + `":1}`, "the config's depth is 9000, above"},
		"3,000 keys of 91 levels":   {"{" + wide.String()[1:] + "}", "client.json would be larger than 16 MiB"},
		"arrays of more than 100":   {`{"k":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}", "depth is 101"},
		"more keys than are edited": {"{" + many(250_001) + "}", "the config's number of keys is 250001"},
	} {
		t.Run(name, func(t *testing.T) {
			w := apptest.Differing(t)
			before := w.Read(".tool/web/client.json")
			lines := "{\n    \"title\": \"local\"\n  }"
			w.Write(".tool/web/client.json", strings.ReplaceAll(before, `{"title": "local"}`, lines))
			before = w.Read(".tool/web/client.json")
			answering(w, c.config)
			r := w.Run(pull.Command, "web", "--force", "--json").Fails("too_large", "pull")
			if reason := r["reason"].(string); !strings.Contains(reason, c.reason) {
				t.Errorf("reason: %s", reason)
			}
			if got := w.Read(".tool/web/client.json"); got != before {
				t.Errorf("client.json is %d bytes", len(got))
			}
			wantNothingSaved(t, w)
		})
	}
}

func many(keys int) string {
	var b strings.Builder
	for i := range keys {
		fmt.Fprintf(&b, `,"%06d":0`, i)
	}
	return b.String()[1:]
}

func TestPull_ReplacesNothingThatItCannotSave(t *testing.T) {
	w := pushed(t)
	w.Edit(apptest.Stack, "title", `"edited"`)
	w.Env["TOOL_STATE_DIR"] = filepath.Join(w.Dir, ".tool", "web", "client.json") // no directory
	for _, flag := range []string{"--force", "--base-files", "--base-files-only"} {
		w.Run(pull.Command, "web", "--force", flag, "--json").Fails("invalid_file", "write")
		w.Run(pull.Command, "web", "--force", flag).Exits(1).
			Prints("cannot be saved for --undo: ", "nothing was changed", "--no-undo", "--force")
	}
	wantSettings(t, w, `"title": "local"`)
	wantFile(t, w, "<p>here")
}

func TestPull_SavesNothingWithNoUndo(t *testing.T) {
	w := pushed(t)
	w.Edit(apptest.Stack, "title", `"edited"`)
	if err := os.RemoveAll(w.Env["TOOL_STATE_DIR"]); err != nil {
		t.Fatal(err)
	}
	w.Run(pull.Command, "web", "--force", "--base-files", "--no-undo").Done()
	wantSettings(t, w, `"title": "edited"`)
	wantFile(t, w, "<p>hub")
	wantNothingSaved(t, w)
	w.Run(pull.Command, "web", "--undo", "--no-undo").Exits(2)
}
