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
	for name, blobs := range map[string]string{"blobs in the database": "", "blobs in a directory": "blobs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := storetest.NewDisk(t)
			var flags []string
			if blobs != "" {
				flags = []string{"--blobs", "file:" + filepath.Join(d.Dir, "data", blobs)}
			}
			address := "sqlite:" + filepath.Join(d.Dir, "data", "hub.db")
			serve(t, address, flags...).kill() // which decides where its blobs are
			d.Cut(0)
			l := newLoad(t, address)
			hub := serve(t, l.address, flags...)
			l.lead(hub.base)
			l.begin(clients)
			for range *powerCuts {
				l.await(1 + rand.Int64N(4*clients))
				hub.kill()
				d.Cut([]float64{0, 0, rand.Float64(), 1}[rand.N(4)])
				fsck(t, l.address, flags...)
				hub = serve(t, l.address, flags...)
				l.check(hub.base)
				l.lead(hub.base)
			}
			l.await(clients)
			l.end()
			hub.kill()
			t.Logf("the power was cut %d times: of %d changes that were not synced, %d were lost", *powerCuts, d.Lost+d.Kept, d.Lost)
		})
	}
}
