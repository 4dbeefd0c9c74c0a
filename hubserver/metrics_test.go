package hubserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestMeasures_CountRoutesThatExist(t *testing.T) {
	m := newMeasures()
	m.add("GET", "/v1/projects/:account")
	for i := range 3 {
		m.note("GET", "/v1/projects/:account", 200+i, time.Second)
	}
	m.note("GET", "/v1/projects/:account", 404, time.Second)
	for i := range 1000 {
		m.note(fmt.Sprint("METHOD", i), unknownPattern, 404, time.Millisecond)
		m.note("GET", fmt.Sprint("/unknown/", i), 404, time.Millisecond)
	}
	var b strings.Builder
	m.set.WritePrometheus(&b)
	for _, want := range []string{
		`hub_requests_total{method="GET",route="/v1/projects/:account",status="2xx"} 3`,
		`hub_requests_total{method="GET",route="/v1/projects/:account",status="4xx"} 1`,
		`hub_request_seconds{method="GET",route="/v1/projects/:account",quantile="0.99"} 1`,
		`hub_requests_total{method="",route="unknown",status="4xx"} 1000`,
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("lacks %s", want)
		}
	}
	if n := strings.Count(b.String(), "\n"); n > 100 {
		t.Errorf("callers made %d lines\n%.2000s", n, &b)
	}
}

func TestMeasures_NoteAllocatesNothing(t *testing.T) {
	m := newMeasures()
	m.add("GET", "/v1/projects/:account")
	if n := testing.AllocsPerRun(1000, func() { m.note("GET", "/v1/projects/:account", 200, time.Millisecond) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAdminServer_ServesMetricsAndProfilesOnly(t *testing.T) {
	s := &Server{measures: newMeasures()}
	handler := s.AdminServer().Handler
	for path, want := range map[string]int{"/metrics": 200, "/debug/pprof/": 200, "/debug/pprof/heap": 200, "/debug/pprof/cmdline": 404, "/": 404, "/v1/whoami": 404} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("GET %s: %d, want %d", path, w.Code, want)
		}
	}
}
