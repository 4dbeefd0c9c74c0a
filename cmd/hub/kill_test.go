package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"testing"

	"example.com/projecthub/store/storetest"
)

var kills = flag.Int("kills", 3,
	"times that a hub is killed under load: 200 with replicas and 300 with SQLite were promised")

// clients are as many as share a commit of SQLite.
const clients = 8

// Replicas are killed at random moments, one after the other, and replaced.
func TestKill_ReplicasLoseNoAcknowledgedWrite(t *testing.T) {
	l := newLoad(t, storetest.Postgres(t))
	var hubs [3]*process
	bases := make([]string, len(hubs))
	replace := func(i int) {
		hubs[i] = serve(t, l.address, "--db-connections", "8")
		bases[i] = hubs[i].base
		l.lead(append([]string{}, bases...)...)
	}
	for i := range hubs {
		replace(i)
	}
	l.begin(clients)
	for range *kills {
		l.await(1 + rand.Int64N(2*clients))
		i := rand.N(len(hubs))
		hubs[i].kill()
		replace(i)
	}
	l.await(clients)
	l.end()
	fsck(t, l.address)
}

// The one hub of a SQLite file is killed while several writes share a commit.
func TestKill_SQLiteHubLosesNoAcknowledgedWrite(t *testing.T) {
	l := newLoad(t, storetest.SQLite(t))
	hub := serve(t, l.address)
	l.lead(hub.base)
	l.begin(clients)
	for range *kills {
		l.await(1 + rand.Int64N(4*clients))
		hub.kill()
		hub = serve(t, l.address)
		l.check(hub.base)
		l.lead(hub.base)
	}
	l.await(clients)
	l.end()
	fsck(t, l.address)
}

func fsck(t *testing.T, address string) {
	t.Helper()
	if out, err := exec.Command(program, "fsck", "--db", address).CombinedOutput(); err != nil {
		t.Error(fmt.Errorf("hub fsck: %w: %s", err, out))
	}
}
