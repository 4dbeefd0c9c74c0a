package hubserver_test

import (
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"
)

// BenchmarkProjectPage reports the time to the first byte of a project's page, which is
// to be less than 50 ms, as one viewer sees it.
func BenchmarkProjectPage(b *testing.B) {
	hub := gallery(b)
	for name, path := range map[string]string{"config": "/@acme/web", "files": "/@acme/web/files", "home": "/"} {
		b.Run(name, func(b *testing.B) {
			who := hub.session("alice")
			var first time.Duration
			for b.Loop() {
				req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, hub.url+path, nil)
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("Cookie", who.cookie)
				req.Header.Set("Accept-Encoding", "gzip")
				start := time.Now()
				trace := &httptrace.ClientTrace{GotFirstResponseByte: func() { first += time.Since(start) }}
				resp, err := http.DefaultClient.Do(req.WithContext(httptrace.WithClientTrace(b.Context(), trace)))
				if err != nil || resp.StatusCode != http.StatusOK {
					b.Fatal(resp, err)
				}
				if err := resp.Body.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(first.Microseconds())/1000/float64(b.N), "ms/first-byte")
		})
	}
}
