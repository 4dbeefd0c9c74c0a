package main

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"example.com/projecthub/store/storetest"
)

var powerCuts = flag.Int("power-cuts", 2, "times that the power of a hub is cut under load: 200 take some minutes")

// The power is cut at random moments, and the hub loses all that it did not sync.
func TestPowerCut_LosesNoAcknowledgedWrite(t *testing.T) {
	d := storetest.NewDisk(t)
	l := newLoad(t, "sqlite:"+filepath.Join(d.Dir, "data", "hub.db"))
	hub := serve(t, l.address)
	l.lead(hub.base)
	l.begin(clients)
	for range *powerCuts {
		l.await(1 + rand.Int64N(4*clients))
		hub.kill()
		d.Cut([]float64{0, 0, rand.Float64(), 1}[rand.N(4)])
		fsck(t, l.address)
		hub = serve(t, l.address)
		l.check(hub.base)
		l.lead(hub.base)
	}
	l.await(clients)
	l.end()
	hub.kill()
	t.Logf("the power was cut %d times: of %d changes that were not synced, %d were lost", *powerCuts, d.Lost+d.Kept, d.Lost)
}
