package golden_test

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkLog tells how much longer tool log of 200 revisions takes than tool --version,
// which is all start-up. The two run in turn.
//
//	go test ./golden -run '^$' -bench Log -benchtime 15x
func BenchmarkLog(b *testing.B) {
	w := newWorld(b, `{"title": "Pets"}`)
	for i := range 200 {
		if err := patch(w.hub.origin+"/v1/projects/alice/web/config", w.token,
			fmt.Sprintf(`{"set": {"n": %d}}`, i)); err != nil {
			b.Fatal(err)
		}
	}
	var log, version []time.Duration
	for b.Loop() {
		version = append(version, timed(func() { w.must("version") }))
		log = append(log, timed(func() { w.must("log", "web", "-n", "200") }))
	}
	b.ReportMetric((median(log)-median(version))/1e6, "beyond-start-ms")
	b.ReportMetric(median(log)/median(version), "x/version")
	b.ReportMetric(0, "ns/op")
}
