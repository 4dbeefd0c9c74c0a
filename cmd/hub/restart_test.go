package main

import (
	"flag"
	"net/http"
	"syscall"
	"testing"
	"time"

	"example.com/projecthub/store/storetest"
)

var restarts = flag.Int("restarts", 1,
	"times that a hub is restarted under load: 100 at 500 requests a second were promised")

// Two hubs are restarted in turn, and clients are led away as a load balancer does that asks
// /readyz: nothing that was acknowledged is lost, and the hubs end well. That no request is
// refused depends on how soon the balancer asks.
func TestRestart_LosesNoAcknowledgedWrite(t *testing.T) {
	l := newLoad(t, storetest.Postgres(t))
	var hubs [2]*process
	start := func(i int) {
		hubs[i] = serve(t, l.address, "--drain-delay", "500ms", "--db-connections", "8")
	}
	start(0)
	start(1)
	l.lead(hubs[0].base, hubs[1].base)
	begun := time.Now()
	l.begin(2 * clients)
	for i := range *restarts {
		l.await(4 * clients)
		leaving, staying := hubs[i%2], hubs[1-i%2]
		if err := leaving.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		for ready := true; ready; time.Sleep(5 * time.Millisecond) {
			resp, err := l.client.Get(leaving.base + "/readyz")
			if ready = err == nil && resp.StatusCode == http.StatusOK; err == nil {
				resp.Body.Close()
			}
		}
		l.lead(staying.base)
		if err := leaving.Wait(); err != nil {
			t.Errorf("after SIGTERM, the hub ended with %v", err)
		}
		start(i % 2)
		l.lead(hubs[0].base, hubs[1].base)
	}
	l.await(4 * clients)
	l.stop()
	l.writing.Wait()
	t.Logf("%d restarts, %.0f requests a second, %d attempts were refused", *restarts,
		float64(l.acked.Load())/time.Since(begun).Seconds(), l.retried.Load())
	l.end()
}
