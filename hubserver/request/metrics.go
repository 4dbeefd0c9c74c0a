package request

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// route is a pattern of paths, which stands for a request's path in logs, with the metrics of its requests:
// a counter for each class of status, and quantiles of the durations. All routes exist from the start, so
// that no caller can add one.
type route struct {
	pattern string
	classes [5]*metrics.Counter // index 0: status 1xx
	seconds *metrics.Summary
}

func (h *Hub) newRoute(method, pattern string) *route {
	labels := fmt.Sprintf("method=%q,route=%q", method, pattern)
	seconds := h.metrics.GetOrCreateSummaryExt(
		"hub_request_seconds{"+labels+"}", 5*time.Minute, []float64{0.5, 0.9, 0.99, 1})
	r := &route{pattern: pattern, seconds: seconds}
	for i := range r.classes {
		r.classes[i] = h.metrics.GetOrCreateCounter(fmt.Sprintf("hub_requests_total{%s,status=\"%dxx\"}", labels, i+1))
	}
	return r
}

// note counts a request with its status and duration.
func (r *route) note(status int, took time.Duration) {
	if status < 100 || status > 599 { // no response has begun
		return
	}
	r.classes[status/100-1].Inc()
	r.seconds.Update(took.Seconds())
}

// AdminServer returns a server of /metrics, in the format of Prometheus, and /debug/pprof/. It is for the hub's
// administrators alone: it needs no token, and profiles show what the hub does. The command line is not served,
// because it may contain the password of the database. address is where the server listens. It refuses requests for
// other hosts, to prevent DNS rebinding.
func (h *Hub) AdminServer(address string) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		h.metrics.WritePrometheus(w)
		metrics.WriteProcessMetrics(w)
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	own := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.Trim(host(r.Host), "[]") // a port may be forwarded
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !IsLoopback(name) && name != host(address) && (local == nil || name != host(local.String())) {
			http.Error(w, "this address does not serve "+strconv.Quote(r.Host), http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
	return &http.Server{Handler: own, ReadHeaderTimeout: 10 * time.Second}
}

// observe adds gauges of the version, of memory and of database connections.
func (h *Hub) observe() {
	h.metrics.NewGauge(fmt.Sprintf("hub_build_info{version=%q}", h.Version), func() float64 { return 1 })
	h.metrics.NewGauge("hub_memory_limit_bytes", func() float64 { return float64(h.Limits.Memory) })
	h.metrics.NewGauge("hub_memory_reserved_bytes", func() (used float64) {
		for _, r := range h.rooms {
			used += float64(r.used.Load())
		}
		return used
	})
	for i, use := range []string{"read", "write"} {
		h.metrics.NewGauge(fmt.Sprintf("hub_database_connections{use=%q}", use), func() float64 {
			read, write := h.Store.Connections()
			return float64([]int{read, write}[i])
		})
	}
}
