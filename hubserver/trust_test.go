package hubserver_test

import (
	"flag"
	"testing"

	"example.com/projecthub/store/sqldb"
)

// Some tests repeat what they do a few times by default, and as often as SECURITY.md says
// of them with
//
//	go test ./hubserver -run 'OneOfMany|WholeUnder|LostResponses|EveryReplica|Injection' -trust=full -timeout 2h -v
var trust = flag.String("trust", "", "full: repeat tests as often as SECURITY.md says")

// rounds returns how often a test repeats what it does.
func rounds(short, full int) int {
	if *trust == "full" {
		return full
	}
	return short
}

// takesLong skips a test with -short.
func takesLong(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
}

// replicas returns n hubs on the database of h, h among them. On PostgreSQL they share
// nothing else; an SQLite file is open once.
func (h *testHub) replicas(t testing.TB, n int) []*testHub {
	t.Helper()
	all := []*testHub{h}
	for len(all) < n {
		if sqldb.Path(h.address) != "" {
			all = append(all, h.replica())
		} else {
			all = append(all, newHub(t, h.address, nil))
		}
	}
	return all
}
