package storetest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Disk is a file system that loses at a power cut what was not synced.
type Disk struct {
	Dir        string
	Lost, Kept int // changes that were not synced, in all cuts

	t        testing.TB
	commands io.Writer
	answers  *bufio.Reader
}

// NewDisk mounts an empty disk, and unmounts it after the test. Where a file system cannot be
// mounted, as in many containers, the test is skipped.
func NewDisk(t testing.TB) *Disk {
	t.Helper()
	program, err := exec.LookPath("powercut")
	if err != nil {
		Missing(t, "powercut: go -C .ci/powercut build -o DIRECTORY/powercut, with DIRECTORY on PATH")
	}
	d := &Disk{t: t, Dir: t.TempDir()}
	c := exec.Command(program, d.Dir)
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

func (d *Disk) command(format string, args ...any) (answer string) {
	d.t.Helper()
	fmt.Fprintf(d.commands, format+"\n", args...)
	answer, err := d.answers.ReadString('\n')
	if err != nil {
		d.t.Fatal("the file system is gone")
	}
	return answer
}

// Cut cuts the power. Each part of what was not synced is kept with a probability. No program
// may have a file open.
func (d *Disk) Cut(keep float64) {
	d.t.Helper()
	var lost, kept int
	answer := d.command("cut %.2f %d", keep, time.Now().UnixNano())
	if _, err := fmt.Sscanf(answer, "lost %d kept %d", &lost, &kept); err != nil {
		d.t.Fatal(answer)
	}
	d.Lost, d.Kept = d.Lost+lost, d.Kept+kept
}

// Fail makes all syncs fail, until Heal. What they should have written is lost at the next
// cut, and no later sync writes it: so Linux does.
func (d *Disk) Fail() { d.command("fail") }

// Protect makes the disk read-only, until Heal.
func (d *Disk) Protect() { d.command("readonly") }

// Heal makes the disk well.
func (d *Disk) Heal() { d.command("heal") }

// SmallDisk mounts a file system of 16 MiB, and unmounts it after the test, which is skipped where it
// cannot be mounted.
func SmallDisk(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("needs root, to mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
