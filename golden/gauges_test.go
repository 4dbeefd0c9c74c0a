package golden_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// gauges are what a hub uses at one moment, as /proc and its --admin-listen say.
type gauges struct {
	goroutines, descriptors int
	resident, heap          float64 // MiB; heap is what a collection leaves
}

// withGauges is the flags of a hub whose gauges are read.
var withGauges = []string{"--admin-listen", "127.0.0.1:0"}

func (g gauges) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %.1f MiB resident, %.1f MiB of live heap", g.goroutines,
		g.descriptors, g.resident, g.heap)
}

// atMost reports whether a hub uses no more connections and goroutines than at a former
// moment. What it keeps open for a while, such as a connection to its database, is allowed.
func (g gauges) atMost(former gauges, more int) bool {
	return g.goroutines <= former.goroutines+more && g.descriptors <= former.descriptors+more
}

// gauges has the hub collect its garbage, and reads what is left.
func (h *hub) gauges(t testing.TB) gauges {
	t.Helper()
	h.log.await(t, "serving metrics")
	admin := "http://" + servingMetrics.FindStringSubmatch(h.log.String())[1]
	read := func(path string) string {
		resp, err := http.Get(admin + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v", path, resp.Status, err)
		}
		return string(text)
	}
	value := func(text, name string) float64 {
		m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("there is no %s", name)
		}
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	read("/debug/pprof/heap?gc=1") // what is in a pool goes with the second collection
	heap := value(read("/debug/pprof/heap?gc=1&debug=1"), "# HeapAlloc =")
	text := read("/metrics")
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", h.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return gauges{
		int(value(text, "go_goroutines")), len(open),
		value(text, "process_resident_memory_bytes") / (1 << 20), heap / (1 << 20),
	}
}

// awaitGauges waits until a hub uses no more than before, and returns how long that took.
func (h *hub) awaitGauges(t testing.TB, before gauges, more int) (took time.Duration) {
	t.Helper()
	start := time.Now()
	now := h.gauges(t)
	for ; !now.atMost(before, more); now = h.gauges(t) {
		if time.Since(start) > time.Minute {
			t.Fatalf("before there were %v, and a minute after the load %v", before, now)
		}
		time.Sleep(20 * time.Millisecond) // between two looks
	}
	return time.Since(start)
}
