// Powercut mounts an empty file system in a directory, which forgets at a power cut what was
// not synced. It reads commands, one in a line, and answers each with a line:
//
//	cut KEPT SEED   forget what was not synced, and mount again: each part of it is kept
//	                with the probability KEPT, as disks write in the order that they like
//	fail            fail all syncs, and never write what they should have written
//	readonly        fail all that changes something, as a file system does after an error
//	heal            stop failing
//
// It ends with its input. The mount needs the rights of root, or fusermount3.
package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/hanwen/go-fuse/v2/fuse"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: powercut DIRECTORY")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "powercut:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	d := newDisk()
	mounted, err := mount(d, dir)
	if err != nil {
		return err
	}
	defer func() { _ = mounted.Unmount() }()
	fmt.Println("mounted")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		answer, err := d.obey(lines.Text(), &mounted, dir)
		if err != nil {
			return err
		}
		fmt.Println(answer)
	}
	return nil
}

// obey carries out a command.
func (d *disk) obey(line string, mounted **fuse.Server, dir string) (answer string, err error) {
	var kept float64
	var seed uint64
	switch {
	case line == "fail", line == "readonly", line == "heal":
		d.mu.Lock()
		defer d.mu.Unlock()
		d.failing, d.readOnly = line == "fail", line == "readonly"
		return line, nil
	default:
		if _, err := fmt.Sscanf(line, "cut %g %d", &kept, &seed); err != nil {
			return "", fmt.Errorf("%q: %w", line, err)
		}
	}
	if err := (*mounted).Unmount(); err != nil {
		return "", err
	}
	lost, held := d.cut(rand.New(rand.NewPCG(seed, seed)), kept)
	*mounted, err = mount(d, dir)
	return fmt.Sprintf("lost %d kept %d", lost, held), err
}
