package golden_test

import (
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestServe_FirstCommandsWorkFromEveryDirectory(t *testing.T) {
	need(t, "sh", "a shell, for the lines that the hub prints")
	dir := filepath.Join(t.TempDir(), "a hub's directory")
	h := startHub(t, sqlite(t, dir))
	_, commands, _ := strings.Cut(h.log.String(), "log in:\n\n")
	commands, _, found := strings.Cut(commands, "\n\n")
	if !found {
		t.Fatalf("the hub said %s", h.log)
	}
	c := exec.Command("sh", "-ec", commands)
	c.Dir = t.TempDir()
	for name, value := range environment(t.TempDir()) {
		if name != "HUB_DB" {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "Logged in") {
		t.Errorf("%s\n%v: %s", commands, err, out)
	}
}

func TestServe_WarnsAboutPlainHTTP(t *testing.T) {
	for _, c := range []struct {
		flags []string
		warns bool
	}{
		{[]string{"--public-url", "http://hub.example.com"}, true},
		{[]string{"--listen", "0.0.0.0:0", "--public-url", "http://192.0.2.1:4680"}, true},
		{[]string{"--listen", "0.0.0.0:0", "--public-url", "https://hub.example.com"}, false},
		{[]string{"--public-url", "http://localhost:4680"}, false},
		{nil, false},
	} {
		h := startHub(t, sqlite(t, t.TempDir()), c.flags...)
		h.stop(t)
		log := h.log.String()
		if warned := strings.Contains(log, "level=WARN") && strings.Contains(log, "plain http"); warned != c.warns {
			t.Errorf("%v: warned %v, want %v: %s", c.flags, warned, c.warns, log)
		}
		// A line that tool would refuse is none to print.
		if allowed := strings.Contains(log, "TOOL_ALLOW_HTTP=1 tool login"); allowed != c.warns {
			t.Errorf("%v: the line to type is %s", c.flags, log)
		}
	}
}

var servingMetrics = regexp.MustCompile(`serving metrics" listen=(\S+)`)

func TestHubServe_ServesMetricsApart(t *testing.T) {
	t.Parallel()
	h := startHub(t, sqlite(t, t.TempDir()), "--admin-listen", "127.0.0.1:0")
	h.log.await(t, "serving metrics")
	admin := "http://" + servingMetrics.FindStringSubmatch(h.log.String())[1]
	get := func(url string) (status int, body string) {
		t.Helper()
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	get(h.origin + "/healthz")
	for _, want := range []string{`hub_requests_total{method="GET",route="/healthz",status="2xx"} 1`,
		"hub_memory_limit_bytes 134217728", "hub_build_info{", "process_resident_memory_bytes"} {
		if status, text := get(admin + "/metrics"); status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%d, without %s:\n%s", status, want, text)
		}
	}
	for _, path := range []string{"/metrics", "/debug/pprof/"} {
		if status, _ := get(h.origin + path); status != http.StatusNotFound {
			t.Errorf("the hub's own address answers %s with %d", path, status)
		}
	}
	if status, _ := get(admin + "/v1/whoami"); status != http.StatusNotFound {
		t.Errorf("the address of the metrics answers requests for the hub with %d", status)
	}
}
