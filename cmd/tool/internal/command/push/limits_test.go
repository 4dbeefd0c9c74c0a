package push_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

func TestPush_SendsWhatTheHubTakes(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Write("large", "")
	if err := os.Truncate(filepath.Join(w.Dir, "large"), basefiles.UsualLimits.BaseFileBytes+1); err != nil {
		t.Fatal(err)
	}
	const usual = "large is too large: it is 25.1 MiB, and a file may be at most 25 MiB"
	f := w.Run(push.Command, "web", "--base-files-only", "--json").Fails("too_large", "read")
	if f["reason"] != usual || f["hint"] != "exclude it in .toolignore" {
		t.Errorf("%v", f)
	}
	limits := `{"configBytes": 1}`
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/v1/openapi") || limits == "" {
			return false
		}
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Hub-Version", "1.0.0")
		rw.Write([]byte(`{"info": {"x-limits": ` + limits + `}}`))
		return true
	})
	w.Run(push.Command, "web", "--base-files-only", "--dry-run").Done().Prints("+ large")
	w.Run(push.Command, "web", "--base-files-only", "--json").Fails("too_large", "push") // the hub itself
	limits = `{"configBytes": 1, "baseFileBytes": 1048576}`
	w.Run(push.Command, "web", "--base-files-only").Exits(1).Prints("a file may be at most 1 MiB")
}
