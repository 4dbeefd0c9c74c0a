package hubserver

import (
	"fmt"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// measures are what /metrics shows of the requests: a counter for each route and class of
// status, and the quantiles of each route's times. All exist from the start, so that no
// caller can add one, and a request finds its own without making a name.
type measures struct {
	set    *metrics.Set
	routes map[route]*measured
}

type route struct{ method, pattern string }

type measured struct {
	classes [5]*metrics.Counter // by the first digit of the status, from 1
	seconds *metrics.Summary
}

// The patterns of requests that are for no endpoint.
const (
	unknownPattern       = "unknown"
	otherMethodPattern   = "method not allowed"
	previewHostPattern   = "preview host"
	anyMethod            = "" // of these patterns, whose methods are the callers' own
	measuredWindow       = 5 * time.Minute
	adminReadHeaderLimit = 10 * time.Second
)

func newMeasures() *measures {
	m := &measures{set: metrics.NewSet(), routes: map[route]*measured{}}
	for _, pattern := range []string{unknownPattern, otherMethodPattern, previewHostPattern} {
		m.add(anyMethod, pattern)
	}
	return m
}

// add makes the measures of a route, once.
func (m *measures) add(method, pattern string) {
	if m.routes[route{method, pattern}] != nil {
		return
	}
	labels := fmt.Sprintf("method=%q,route=%q", method, pattern)
	of := &measured{seconds: m.set.NewSummaryExt("hub_request_seconds{"+labels+"}", measuredWindow, []float64{0.5, 0.9, 0.99, 1})}
	for i := range of.classes {
		of.classes[i] = m.set.NewCounter(fmt.Sprintf("hub_requests_total{%s,status=\"%dxx\"}", labels, i+1))
	}
	m.routes[route{method, pattern}] = of
}

// note counts a request.
func (m *measures) note(method, pattern string, status int, took time.Duration) {
	of := m.routes[route{method, pattern}]
	if of == nil {
		of = m.routes[route{anyMethod, pattern}]
	}
	if of == nil || status < 100 || status > 599 {
		return
	}
	of.classes[status/100-1].Inc()
	of.seconds.Update(took.Seconds())
}

// AdminServer serves /metrics, in the format of Prometheus, and /debug/pprof/. It is for
// the hub's administrators alone: it asks for no token, and profiles show what the hub does.
// It does not serve the command line, which may have the password of the database.
func (s *Server) AdminServer() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		s.measures.set.WritePrometheus(w)
		metrics.WriteProcessMetrics(w)
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return &http.Server{Handler: mux, ReadHeaderTimeout: adminReadHeaderLimit}
}

// observe adds gauges of what the hub holds.
func (s *Server) observe() {
	gauge := func(name string, f func() int64) {
		s.measures.set.NewGauge(name, func() float64 { return float64(f()) })
	}
	gauge(fmt.Sprintf("hub_build_info{version=%q}", s.Version), func() int64 { return 1 })
	gauge("hub_memory_limit_bytes", func() int64 { return s.Limits.Memory })
	gauge("hub_memory_reserved_bytes", s.memory.reserved)
	gauge("hub_database_connections{use=\"read\"}", func() int64 { read, _ := s.Store.Connections(); return int64(read) })
	s.measures.set.RegisterMetricsWriter(s.Store.WriteObjectMetrics)
	gauge("hub_database_connections{use=\"write\"}", func() int64 { _, write := s.Store.Connections(); return int64(write) })
}
