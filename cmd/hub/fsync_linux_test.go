package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/store/storetest"
)

// A write is on disk before its acknowledgement leaves: between the system calls that read
// a request and that write its 2xx, one has synced the log of SQLite.
func TestWrite_IsSyncedBeforeItIsAcknowledged(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		storetest.Missing(t, "strace: apt-get install strace")
	}
	// Of one client, no write can pass with the sync of another one.
	for _, n := range []int{1, clients} {
		t.Run(fmt.Sprint(n, " clients"), func(t *testing.T) { checkSynced(t, n) })
	}
}

func checkSynced(t *testing.T, clients int) {
	l := newLoad(t, storetest.SQLite(t))
	hub := serve(t, l.address)
	file := filepath.Join(t.TempDir(), "calls")
	stop := trace(t, hub, file)
	l.lead(hub.base)
	l.begin(clients)
	l.await(40)
	l.stop()
	l.writing.Wait()
	stop()
	calls, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	o := order{reading: map[string]string{}, read: map[string]int{}, syncing: map[string]int{}}
	for lines := bufio.NewScanner(calls); lines.Scan(); {
		o.add(lines.Text())
	}
	if o.acknowledged < 40 || len(o.early) > 0 {
		t.Errorf("of %d acknowledgements these left before a sync: %q", o.acknowledged, o.early)
	}
	t.Logf("%d acknowledgements, %d syncs", o.acknowledged, o.syncs)
	l.end()
}

// trace records the system calls of a hub until the function that it returns is called.
func trace(t *testing.T, hub *process, file string) (stop func()) {
	t.Helper()
	c := exec.Command("strace", "-f", "-y", "-s", "16", "-e", "trace=read,write,fsync,fdatasync", "-o", file, "-p",
		fmt.Sprint(hub.Process.Pid))
	var log bytes.Buffer
	c.Stderr = &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if text, _ := os.ReadFile(file); len(text) > 0 {
			break
		}
		select {
		case err := <-done:
			t.Fatalf("strace: %v: %s", err, &log)
		default:
		}
		if resp, err := http.Get(hub.base + "/healthz"); err == nil { // something to record
			resp.Body.Close()
		}
		if time.Now().After(end) {
			t.Fatal("strace records nothing")
		}
	}
	return func() {
		_ = c.Process.Signal(os.Interrupt) // it leaves the hub alone
		<-done
	}
}

// order follows the system calls of a hub.
type order struct {
	reading      map[string]string // by thread: the connection from which it reads
	read         map[string]int    // by connection: how many syncs had begun when its request was read
	syncing      map[string]int    // by thread: the number of the sync in progress
	begun, syncs int               // syncs: those that ended
	last         int               // the number of the latest sync, by its begin, that ended
	acknowledged int
	early        []string
}

var call = regexp.MustCompile(`^(\d+) +(?:<\.\.\. )?(read|write|fsync|fdatasync)(?:\((\d+<[^>]*>)| resumed>)`)

// writing is how a write begins; the server may have read its first byte before.
var writing = regexp.MustCompile(`"P?(UT|OST) /`)

func (o *order) add(line string) {
	found := call.FindStringSubmatch(line)
	if found == nil {
		return
	}
	thread, name, file := found[1], found[2], found[3]
	begins, ends := file != "", !strings.Contains(line, "<unfinished")
	switch name {
	case "fsync", "fdatasync":
		if begins {
			o.begun++
			o.syncing[thread] = o.begun
		}
		if ends && strings.HasSuffix(line, "= 0") {
			o.syncs, o.last = o.syncs+1, max(o.last, o.syncing[thread])
		}
	case "read":
		if begins {
			o.reading[thread] = file
		}
		if file = o.reading[thread]; ends && writing.MatchString(line) {
			o.read[file] = o.begun
		}
	case "write":
		if before, asked := o.read[file]; begins && asked && strings.Contains(line, `"HTTP/1.1 2`) {
			o.acknowledged++
			if delete(o.read, file); o.last <= before {
				o.early = append(o.early, line)
			}
		}
	}
}
