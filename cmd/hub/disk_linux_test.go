package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"

	"example.com/projecthub/store/storetest"
)

// disk is a file system that loses at a power cut what was not synced.
type disk struct {
	dir        string
	lost, kept int // changes that were not synced, in all cuts

	t        testing.TB
	commands io.Writer
	answers  *bufio.Reader
}

// newDisk mounts an empty disk, and unmounts it after the test. Where a file system cannot be
// mounted, as in many containers, the test is skipped.
func newDisk(t testing.TB) *disk {
	t.Helper()
	program, err := exec.LookPath("powercut")
	if err != nil {
		storetest.Missing(t, "powercut: go -C .ci/powercut build -o DIRECTORY/powercut, with DIRECTORY on PATH")
	}
	d := &disk{t: t, dir: t.TempDir()}
	c := exec.Command(program, d.dir)
	commands, stdinErr := c.StdinPipe()
	answers, stdoutErr := c.StdoutPipe()
	var log bytes.Buffer
	c.Stderr = &log
	if err := errors.Join(stdinErr, stdoutErr, c.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { commands.Close(); _ = c.Wait() })
	d.commands, d.answers = commands, bufio.NewReader(answers)
	if _, err := d.answers.ReadString('\n'); err != nil {
		_ = c.Wait()
		t.Skipf("this machine does not allow to mount a file system: %s", &log)
	}
	return d
}

func (d *disk) command(format string, args ...any) (answer string) {
	d.t.Helper()
	fmt.Fprintf(d.commands, format+"\n", args...)
	answer, err := d.answers.ReadString('\n')
	if err != nil {
		d.t.Fatal("the file system is gone")
	}
	return answer
}

// cut cuts the power. Each part of what was not synced is kept with a probability. No program
// may have a file open.
func (d *disk) cut(keep float64) {
	d.t.Helper()
	var lost, kept int
	answer := d.command("cut %.2f %d", keep, time.Now().UnixNano())
	if _, err := fmt.Sscanf(answer, "lost %d kept %d", &lost, &kept); err != nil {
		d.t.Fatal(answer)
	}
	d.lost, d.kept = d.lost+lost, d.kept+kept
}

// fail makes all syncs fail, until heal. What they should have written is lost at the next
// cut, and no later sync writes it: so Linux does.
func (d *disk) fail() { d.command("fail") }

// protect makes the disk read-only, until heal.
func (d *disk) protect() { d.command("readonly") }

// heal makes the disk well.
func (d *disk) heal() { d.command("heal") }
