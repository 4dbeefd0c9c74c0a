package main

import (
	"errors"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

var powerCuts = flag.Int("power-cuts", 2, "times that the power of a hub is cut under load: 200 take some minutes")

// The power is cut at random moments, and the hub loses all that it did not sync.
func TestPowerCut_LosesNoAcknowledgedWrite(t *testing.T) {
	d := newDisk(t)
	l := newLoad(t, "sqlite:"+filepath.Join(d.dir, "data", "hub.db"))
	hub := serve(t, l.address)
	l.lead(hub.base)
	l.begin(clients)
	for range *powerCuts {
		l.await(1 + rand.Int64N(4*clients))
		hub.kill()
		d.cut([]float64{0, 0, rand.Float64(), 1}[rand.N(4)])
		fsck(t, l.address)
		hub = serve(t, l.address)
		l.check(hub.base)
		l.lead(hub.base)
	}
	l.await(clients)
	l.end()
	hub.kill()
	t.Logf("the power was cut %d times: of %d changes that were not synced, %d were lost", *powerCuts, d.lost+d.kept,
		d.lost)
}

// After a failed sync, a later one succeeds without the pages that the failed one should have written.
func TestPowerCut_KeepsWritesAfterAFailedSync(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	address := "sqlite:" + filepath.Join(d.dir, "hub.db")
	create := func(s *store.Store, name string) error {
		return s.Write(t.Context(), func(tx *store.Tx) error { return tx.CreateAccount(name, store.KindUser) })
	}
	s := storetest.Open(t, address)
	if err := create(s, "before"); err != nil {
		t.Fatal(err)
	}
	d.fail()
	if err := create(s, "refused"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("while the disk fails to sync: %v", err)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("ready while the disk fails to sync: %v", err)
	}
	d.heal()
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("ready once the disk is well: %v", err)
	}
	if err := create(s, "acknowledged"); err != nil {
		t.Fatal(err)
	}
	d.protect() // so that closing writes nothing
	s.Close()
	d.cut(0)
	again, err := store.Open(t.Context(), address, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close() // before the disk goes
	for _, name := range []string{"before", "acknowledged"} {
		if err := create(again, name); !errors.Is(err, store.ErrExists) {
			t.Errorf("%s after a power cut: %v", name, err)
		}
	}
}
