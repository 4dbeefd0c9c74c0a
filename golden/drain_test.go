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
	status := func(path string) int {
		t.Helper()
		resp, err := http.Get("http://" + h.listen + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := status("/readyz"); got != 200 {
		t.Fatalf("/readyz is %d", got)
	}
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	h.log.await(t, "draining")
	if ready, healthy := status("/readyz"), status("/healthz"); ready != 503 || healthy != 200 {
		t.Errorf("while it drains, /readyz is %d and /healthz %d, want 503 and 200", ready, healthy)
	}
	h.once.Do(func() { // ends the wait
		h.cmd.Process.Kill()
		h.cmd.Wait()
	})
}
