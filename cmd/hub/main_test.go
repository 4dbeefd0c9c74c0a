package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// program is a link to these tests that runs the hub instead of them.
var program string

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "hub" {
		main()
		return
	}
	dir, err := os.MkdirTemp("", "hub-")
	self, err2 := os.Executable()
	program = filepath.Join(dir, "hub")
	if err := errors.Join(err, err2, os.Symlink(self, program)); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// process is a running hub.
type process struct {
	*exec.Cmd
	base string // its origin
	log  *logged
}

// logged is the log of a process that runs.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve starts a hub on a database, and
// waits until it is ready.
func serve(t testing.TB, address string, flags ...string) *process {
	t.Helper()
	p, err := tryServe(t, address, flags...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tryServe(t testing.TB, address string, flags ...string) (*process, error) {
	t.Helper()
	p := &process{log: &logged{}}
	p.Cmd = exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0", "--db", address}, flags...)...)
	p.Stderr = p.log
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if p.kill(); t.Failed() {
			t.Logf("the log of %s:\n%s", p.base, p.log)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = p.Wait()
		return nil, fmt.Errorf("the hub did not start: %s", p.log)
	}
	p.base = strings.TrimSpace(line)
	return p, nil
}

// kill ends a hub without any warning.
func (p *process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}
