package golden_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// losingDisk is a file system that loses at a power cut what was not synced.
type losingDisk struct {
	t        *testing.T
	dir      string
	commands io.Writer
	answers  *bufio.Reader
}

// newLosingDisk mounts an empty disk, and unmounts it after the test.
func newLosingDisk(t *testing.T) *losingDisk {
	t.Helper()
	d := &losingDisk{t: t, dir: t.TempDir()}
	c := exec.Command(need(t, "powercut", "go -C .ci/powercut build -o DIRECTORY/powercut, with DIRECTORY on PATH"), d.dir)
	commands, stdinErr := c.StdinPipe()
	answers, stdoutErr := c.StdoutPipe()
	log := &lockedBuffer{}
	c.Stderr = log
	if err := errors.Join(stdinErr, stdoutErr, c.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { commands.Close(); c.Wait() })
	d.commands, d.answers = commands, bufio.NewReader(answers)
	if _, err := d.answers.ReadString('\n'); err != nil {
		t.Skipf("this machine does not allow to mount a file system: %s", log)
	}
	return d
}

// command makes the disk do something, and waits until it has.
func (d *losingDisk) command(format string, args ...any) {
	d.t.Helper()
	fmt.Fprintf(d.commands, format+"\n", args...)
	if _, err := d.answers.ReadString('\n'); err != nil {
		d.t.Fatal("the file system is gone")
	}
}

// cut cuts the power. Of what was not synced, nothing is kept, or some, or all.
func (d *losingDisk) cut(kept float64) {
	d.t.Helper()
	d.command("cut %.2f %d", kept, mathrand.Uint64())
}

// The power is cut at random moments of a pull and of a login. client.json and the login
// file are the old ones or the new ones, and client.json is kept of a pull that has ended.
func TestTrust_ToolLosesPower(t *testing.T) {
	t.Parallel()
	d := newLosingDisk(t)
	w := newWorld(t, `{"n": 0}`)
	dir := filepath.Join(d.dir, "app")
	if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	w.dir = dir
	w.env = append(w.env, "TOOL_CONFIG_DIR="+filepath.Join(d.dir, "config"),
		"TOOL_STATE_DIR="+filepath.Join(d.dir, "state"))
	tokens := [2]string{w.token, w.hub.token(t, "alice", "write:catalog")}
	w.must("login", "--origin", w.origin, "--token", tokens[0])
	d.cut(1)
	ended, local := 0, 0
	for n := 1; n <= rounds(2, 200); n++ {
		w.patch(fmt.Sprintf(`{"set": {"n": %d}}`, n))
		var stderr, other bytes.Buffer
		pull, login := w.command("pull", "web", "--force", "--no-input"),
			w.command("login", "--origin", w.origin, "--token", tokens[n%2])
		pull.Stderr, login.Stderr = &stderr, &other
		if err := errors.Join(pull.Start(), login.Start()); err != nil {
			t.Fatal(err)
		}
		moment := time.AfterFunc(time.Duration(mathrand.IntN(60))*time.Millisecond,
			func() { pull.Process.Kill(); login.Process.Kill() })
		pulled := pull.Wait() == nil
		_ = login.Wait()
		moment.Stop()
		d.cut([]float64{0, 0, mathrand.Float64(), 1}[mathrand.IntN(4)])

		var client struct{ Settings struct{ N int } }
		text := w.read(clientJSON)
		if err := json.Unmarshal([]byte(text), &client); err != nil || client.Settings.N != local && client.Settings.N != n ||
			pulled && client.Settings.N != n {
			t.Fatalf("cut %d: client.json is %q, before it had %d, tool ended: %v\n%s", n, text, local, pulled, &stderr)
		}
		file, err := os.ReadFile(filepath.Join(d.dir, "config", "login.json"))
		if err != nil || !json.Valid(file) || !strings.Contains(string(file), tokens[0]) &&
			!strings.Contains(string(file), tokens[1]) {
			t.Fatalf("cut %d: login.json is %q: %v\n%s", n, file, err, &other)
		}
		if pulled {
			ended++
		}
		w.must("pull", "web", "--force", "--no-input")
		local = n
		if stray, _ := filepath.Glob(filepath.Join(d.dir, "app", ".tool", "web", ".*.tmp")); len(stray) > 0 {
			t.Errorf("cut %d, then run again: %v is left", n, stray)
		}
	}
	t.Logf("the power was cut %d times, %d times after the pull had ended", rounds(2, 200), ended)

	w.write("assets/a.txt", "from the hub")
	w.must("push", "web", "--force", "--base-files", "--no-input")
	w.write("assets/a.txt", "edited here")
	w.patch(`{"set": {"n": -1}}`)
	d.cut(1)
	w.must("pull", "web", "--force", "--base-files", "--no-input")
	d.cut(0)
	w.must("pull", "web", "--undo", "--no-input")
	if text, client := w.read("assets/a.txt"), w.read(clientJSON); text != "edited here" ||
		strings.Contains(client, "-1") {
		t.Errorf("when a pull is undone after a power cut, the base file is %q, client.json %s", text, client)
	}
}

// A disk that becomes read-only under a hub, as after an error, fails writes and leaves
// reads alone. The hub is not ready until the disk is writable again.
func TestTrust_DiskBecomesReadOnly(t *testing.T) {
	t.Parallel()
	d := newLosingDisk(t)
	w := newWorld(t, `{"n": 0}`)
	w.hub.stop(t)
	if err := os.CopyFS(d.dir, os.DirFS(filepath.Dir(strings.TrimPrefix(w.hub.db, "sqlite:")))); err != nil {
		t.Fatal(err)
	}
	w.hub = startHub(t, sqlite(t, d.dir), "--listen", w.hub.listen)
	n, acknowledged := 0, 0
	expect := func(write, ready int) {
		t.Helper()
		n++
		start := time.Now()
		_, before := w.fetch("/readyz")
		wrote := w.set(n)
		if wrote == 200 {
			acknowledged = n
		}
		_, after := w.fetch("/readyz")
		if seen := w.number(); wrote != write || after != ready || write == 200 && before != ready || seen != acknowledged {
			t.Errorf("edit %d: status %d, /readyz %d and then %d, %d is read", n, wrote, before, after, seen)
		}
		if took := time.Since(start); *trust == "full" && took > 5*time.Second {
			t.Errorf("edit %d took %v", n, took)
		}
	}
	expect(200, 200)
	for range rounds(2, 20) {
		d.command("readonly")
		expect(503, 503)
		expect(503, 503)
		d.command("heal")
		expect(200, 200)
	}
	w.hub.stop(t)
	w.hub.admin(t, "fsck")
}

// A program that locks the database for a moment delays writes, and one that locks it for
// longer fails them, with Retry-After.
func TestTrust_LockedDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"n": 0}`)
	for _, c := range []struct {
		held time.Duration
		want int
	}{{time.Duration(rounds(300, 3000)) * time.Millisecond, 200}, {time.Duration(rounds(0, 30)) * time.Second, 503}} {
		if c.held == 0 {
			continue // TestServer_OtherWriterBlocksWritesNotReads
		}
		unlock := lockExclusively(t, w.hub.db)
		time.AfterFunc(c.held, unlock)
		start := time.Now()
		if status := w.set(1); status != c.want {
			t.Errorf("while the database is locked for %v: %d", c.held, status)
		}
		if took := time.Since(start); *trust == "full" && took > 6*time.Second {
			t.Errorf("while the database is locked for %v, the response took %v", c.held, took)
		}
		w.number()
		unlock()
	}
	for i := range rounds(5, 1000) {
		unlock := lockExclusively(t, w.hub.db)
		done := make(chan int)
		go func() { done <- w.set(i) }()
		time.AfterFunc(time.Duration(mathrand.IntN(20))*time.Millisecond, unlock)
		if status := <-done; status != 200 {
			t.Errorf("edit %d: status %d", i, status)
		}
	}
}

// lockExclusively locks a SQLite file as another program may, until unlock is called.
func lockExclusively(t *testing.T, address string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(address, "sqlite:")+
		"?_pragma=busy_timeout(5000)&_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Error(err)
		}
	})
}
