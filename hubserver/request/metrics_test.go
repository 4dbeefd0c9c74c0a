package request

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

func TestRoute_CountsRequests(t *testing.T) {
	hub := &Hub{metrics: metrics.NewSet()}
	known, unknown := hub.newRoute("GET", "/v1/projects/:account"), hub.newRoute("", "unknown")
	for i := range 3 {
		known.note(200+i, time.Second)
	}
	known.note(404, time.Second)
	known.note(0, time.Second)
	unknown.note(404, time.Millisecond)
	if again := hub.newRoute("GET", "/v1/projects/:account"); again.classes != known.classes {
		t.Error("a route that exists is counted elsewhere")
	}
	var b strings.Builder
	hub.metrics.WritePrometheus(&b)
	for _, want := range []string{
		`hub_requests_total{method="GET",route="/v1/projects/:account",status="2xx"} 3`,
		`hub_requests_total{method="GET",route="/v1/projects/:account",status="4xx"} 1`,
		`hub_request_seconds{method="GET",route="/v1/projects/:account",quantile="0.99"} 1`,
		`hub_requests_total{method="",route="unknown",status="4xx"} 1`,
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("lacks %s", want)
		}
	}
}

func TestAdminServer_ServesMetricsAndProfilesOnly(t *testing.T) {
	hub := &Hub{metrics: metrics.NewSet()}
	handler := hub.AdminServer("127.0.0.1:0").Handler
	for path, want := range map[string]int{
		"/metrics": 200, "/debug/pprof/": 200, "/debug/pprof/heap": 200,
		"/debug/pprof/cmdline": 404, "/": 404, "/v1/whoami": 404,
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		if w.Code != want {
			t.Errorf("GET %s: %d, want %d", path, w.Code, want)
		}
	}
}

func TestAdminServer_RefusesOtherHosts(t *testing.T) {
	hub := &Hub{metrics: metrics.NewSet()}
	handler := hub.AdminServer("metrics.internal:4690").Handler
	for host, want := range map[string]int{
		"localhost": 200, "localhost:4690": 200, "127.0.0.1:4690": 200, "[::1]": 200, "[::1]:9999": 200,
		"metrics.internal:4690": 200, "192.0.2.7:4690": 200,
		"": 421, "evil.example:4690": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example:4690": 421,
		"192.0.2.8:4690": 421, "localhost@evil.example": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Host = host
		local := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4690} // of a listener on all addresses
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Host %q: %d, want %d", host, w.Code, want)
		}
	}
}
