package golden_test

import (
	"net/http"
	"runtime"
	"syscall"
	"testing"
)

func TestHubServe_IsNotReadyBeforeItsListenerCloses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	h := startHub(t, sqlite(t, t.TempDir()), "--drain-delay", "10m")
	get := func(path string) (status int, closes bool) {
		t.Helper()
		resp, err := http.Get("http://" + h.listen + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode, resp.Close
	}
	if status, closes := get("/readyz"); status != 200 || closes {
		t.Fatalf("/readyz is %d, and its response ends the connection: %t", status, closes)
	}
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	h.log.await(t, "draining")
	for path, want := range map[string]int{"/readyz": 503, "/healthz": 200} {
		if status, closes := get(path); status != want || !closes {
			t.Errorf("while it drains, %s is %d, want %d, and its response ends the connection: %t", path, status, want, closes)
		}
	}
	h.once.Do(func() { // ends the wait
		h.cmd.Process.Kill()
		h.cmd.Wait()
	})
}
