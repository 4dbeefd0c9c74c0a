package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"example.com/projecthub/store/storetest"
)

var powerCuts = flag.Int("power-cuts", 2, "times that the power of a hub is cut under load: 200 take some minutes")

// disk is a file system that loses at a power cut what was not synced.
type disk struct {
	testing.TB
	dir      string
	commands io.Writer
	answers  *bufio.Reader
	lost     int // changes, in all cuts
	kept     int
}

// newDisk mounts an empty disk, and unmounts it after the test.
func newDisk(t testing.TB) *disk {
	t.Helper()
	program, err := exec.LookPath("powercut")
	if err != nil {
		storetest.Missing(t, "powercut: go -C .ci/powercut build -o DIRECTORY/powercut, with DIRECTORY on PATH")
	}
	d := &disk{TB: t, dir: t.TempDir()}
	c := exec.Command(program, d.dir)
	commands, stdinErr := c.StdinPipe()
	answers, stdoutErr := c.StdoutPipe()
	var log logged
	c.Stderr = &log
	if err := errors.Join(stdinErr, stdoutErr, c.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { commands.Close(); _ = c.Wait() })
	d.commands, d.answers = commands, bufio.NewReader(answers)
	if _, err := d.answers.ReadString('\n'); err != nil {
		t.Skipf("this machine does not allow to mount a file system: %s", &log) // as in many containers
	}
	return d
}

func (d *disk) command(format string, args ...any) string {
	d.Helper()
	fmt.Fprintf(d.commands, format+"\n", args...)
	answer, err := d.answers.ReadString('\n')
	if err != nil {
		d.Fatal("the file system is gone")
	}
	return answer
}

// cut cuts the power. Of what was not synced, nothing is kept, or all, or some.
func (d *disk) cut() {
	d.Helper()
	var lost, kept int
	answer := d.command("cut %.2f %d", []float64{0, 0, rand.Float64(), 1}[rand.N(4)], rand.Uint64())
	if _, err := fmt.Sscanf(answer, "lost %d kept %d", &lost, &kept); err != nil {
		d.Fatal(answer)
	}
	d.lost, d.kept = d.lost+lost, d.kept+kept
}

// The power is cut at random moments, and the hub loses all that it did not sync.
func TestPowerCut_LosesNoAcknowledgedWrite(t *testing.T) {
	for name, blobs := range map[string]string{"blobs in the database": "", "blobs in a directory": "blobs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			var flags []string
			if blobs != "" {
				flags = []string{"--blobs", "file:" + filepath.Join(d.dir, "data", blobs)}
			}
			address := "sqlite:" + filepath.Join(d.dir, "data", "hub.db")
			serve(t, address, flags...).kill() // which decides where its blobs are
			d.cut()
			l := newLoad(t, address)
			hub := serve(t, l.address, flags...)
			l.lead(hub.base)
			l.begin(clients)
			for range *powerCuts {
				l.await(1 + rand.Int64N(4*clients))
				hub.kill()
				d.cut()
				fsck(t, l.address, flags...)
				hub = serve(t, l.address, flags...)
				l.check(hub.base)
				l.lead(hub.base)
			}
			l.await(clients)
			l.end()
			hub.kill()
			t.Logf("the power was cut %d times: of %d changes that were not synced, %d were lost", *powerCuts, d.lost+d.kept, d.lost)
		})
	}
}

// The disk fails to sync for a while, and loses what it should have written then. After it
// is well, the power is cut.
func TestPowerCut_LosesNoAcknowledgedWriteAfterAFailedSync(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	l := newLoad(t, "sqlite:"+filepath.Join(d.dir, "hub.db"))
	hub := serve(t, l.address)
	l.lead(hub.base)
	l.begin(clients)
	for range *powerCuts {
		l.await(1 + rand.Int64N(clients))
		d.command("fail")
		for refused := l.retried.Load(); l.retried.Load() == refused && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
		d.command("heal")
		l.await(1 + rand.Int64N(4*clients))
		hub.kill()
		d.cut()
		fsck(t, l.address)
		hub = serve(t, l.address)
		l.check(hub.base)
		l.lead(hub.base)
	}
	l.await(clients)
	l.end()
	hub.kill()
}
