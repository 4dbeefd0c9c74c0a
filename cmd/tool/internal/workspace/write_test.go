package workspace_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

func TestRecord_FailedWriteLeavesFileUnchanged(t *testing.T) {
	full := func(*os.File) error { return &os.PathError{Op: "sync", Path: "x", Err: syscall.ENOSPC} }
	refused := func(*os.Root, string, string) error {
		return &os.LinkError{Op: "rename", Old: "x", New: "y", Err: syscall.EIO}
	}
	for _, c := range []struct {
		name, reason string
		inject       func(t *testing.T)
	}{
		{"full disk", "cannot be written: " + syscall.ENOSPC.Error(), func(t *testing.T) { workspace.OnSync(t, full) }},
		{"failed exchange", "cannot be written: " + syscall.EIO.Error(), func(t *testing.T) {
			workspace.OnExchange(t, refused)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const text = `{"settings": {"a": 1}}`
			client := newClient(t, text)
			dir := client.Workspace().Dir
			c.inject(t)
			changed, err := client.Record("project", "@acme/web", false)
			e := wantFault(t, err, failure.CodeNotRecorded, clientJSON+": "+c.reason)
			if want := `add this line to .tool/web/client.json by hand: "project": "@acme/web"`; changed || e.Hint != want {
				t.Errorf("changed %t, hint %q, want %q", changed, e.Hint, want)
			}
			_, err = newClient(t, `{"project": "@acme/former"}`).Record("project", "@acme/web", false)
			e = wantFault(t, err, failure.CodeNotRecorded, clientJSON+": "+c.reason)
			if want := `change the line in .tool/web/client.json by hand, to: "project": "@acme/web"`; e.Hint != want {
				t.Errorf("hint %q, want %q", e.Hint, want)
			}
			_, err = client.Replace(fold(t, `{}`))
			wantFault(t, err, failure.CodeNotRecorded, clientJSON+": "+c.reason)
			if got := read(t, dir, clientJSON); got != text || client.Project.Present() {
				t.Errorf("client.json is now %s, Project %v", got, client.Project)
			}
			if got := files(t, dir); !cmp.Equal(got, []string{clientJSON}) {
				t.Errorf("there are now %v", got)
			}
		})
	}
}

func TestRecord_FailedDirectorySyncLosesNothing(t *testing.T) {
	c := newClient(t, `{}`)
	workspace.OnSync(t, func(f *os.File) error {
		if info, err := f.Stat(); err != nil || info.IsDir() {
			return syscall.EINVAL
		}
		return f.Sync()
	})
	if changed, err := c.Record("api", "@a/b", false); !changed || err != nil {
		t.Errorf("changed %t, error %v", changed, err)
	}
}

func TestRecord_SyncsBeforeAndAfterExchange(t *testing.T) {
	c := newClient(t, `{}`)
	dir := c.Workspace().Dir
	var steps []string
	workspace.OnSync(t, func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if info.IsDir() {
			steps = append(steps, "sync directory")
		} else {
			steps = append(steps, "sync "+read(t, dir, strings.TrimPrefix(f.Name(), dir)))
		}
		return f.Sync()
	})
	workspace.OnExchange(t, func(root *os.Root, from, to string) error {
		if filepath.Dir(from) != filepath.Dir(to) || !strings.HasPrefix(filepath.Base(from), ".client.json.") ||
			!strings.HasSuffix(from, ".tmp") {
			t.Errorf("%s is exchanged with %s", from, to)
		}
		steps = append(steps, "exchange")
		return atomicfile.Exchange(root, from, to)
	})
	if _, err := c.Record("api", "@a/b", false); err != nil {
		t.Fatal(err)
	}
	want := []string{"sync {\n  \"api\": \"@a/b\"\n}", "exchange", "sync directory"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestRecord_KeepsWhatAnEditorSavesMeanwhile(t *testing.T) {
	const saved = "{\n  \"settings\": {\"edited\": true}\n}\n"
	editors := map[string]func(dir string) error{
		"in place": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, clientJSON), []byte(saved), 0o644)
		},
		"by a rename": func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "new"), []byte(saved), 0o644); err != nil {
				return err
			}
			return os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, clientJSON))
		},
	}
	for name, save := range editors {
		t.Run(name, func(t *testing.T) {
			// The editor saves after tool compared the file, right before it replaces it.
			c := newClient(t, `{"settings": {"a": 1}}`)
			dir, calls := c.Workspace().Dir, 0
			workspace.OnExchange(t, func(root *os.Root, from, to string) error {
				if calls++; calls == 1 {
					if err := save(dir); err != nil {
						t.Error(err)
					}
				}
				return atomicfile.Exchange(root, from, to)
			})
			_, err := c.Replace(fold(t, `{"a": 2}`))
			wantFault(t, err, failure.CodeNotRecorded, clientJSON+": it was edited meanwhile")
			if got := read(t, dir, clientJSON); got != saved {
				t.Errorf("client.json is %s", got)
			}
			calls = 0
			if _, err := c.Record("api", "@a/b", false); err != nil {
				t.Error(err)
			}
			if want := "{\n  \"settings\": {\"edited\": true},\n  \"api\": \"@a/b\"\n}\n"; read(t, dir, clientJSON) != want {
				t.Errorf("client.json is %s", read(t, dir, clientJSON))
			}
			if got := files(t, dir); !cmp.Equal(got, []string{clientJSON}) {
				t.Errorf("there are %v", got)
			}
		})
	}
}

func TestRecord_HundredConcurrentWritersLoseNothing(t *testing.T) {
	const writers = 100
	w := newWorkspace(t, map[string]string{clientJSON: "{\n  \"settings\": {}\n}\n"})
	clients := make([]*workspace.Client, writers)
	for i := range clients {
		clients[i] = client(t, find(t, w.Dir))
	}
	var wait sync.WaitGroup
	for i, c := range clients {
		wait.Go(func() {
			if changed, err := c.Record(fmt.Sprintf("field%d", i), "@a/b", false); !changed || err != nil {
				t.Errorf("writer %d: changed %t, error %v", i, changed, err)
			}
		})
	}
	wait.Wait()
	wantFields(t, w.Dir, writers)
}

func TestRecord_ConcurrentProcessesLoseNothing(t *testing.T) {
	const processes = 12
	w := newWorkspace(t, map[string]string{clientJSON: "{}"})
	var wait sync.WaitGroup
	for i := range processes {
		wait.Go(func() {
			child := writerProcess(w.Dir, "record", fmt.Sprintf("field%d", i))
			if out, err := child.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out)
			}
		})
	}
	wait.Wait()
	wantFields(t, w.Dir, processes)
}

func TestRecord_KilledWriterLeavesOldOrNewFile(t *testing.T) {
	const old = "{\n  \"settings\": {}\n}\n"
	const new = "{\n  \"settings\": {},\n  \"api\": \"@a/b\"\n}\n"
	for step, want := range map[string]string{
		"before sync":           old,
		"after sync":            old,
		"before exchange":       old,
		"after exchange":        new,
		"before directory sync": new,
	} {
		w := newWorkspace(t, map[string]string{clientJSON: old})
		if err := writerProcess(w.Dir, step, "api").Run(); err == nil {
			t.Errorf("%s: the process was not killed", step)
		}
		if got := read(t, w.Dir, clientJSON); got != want {
			t.Errorf("killed %s: client.json is %q, want %q", step, got, want)
		}
		if _, err := client(t, w).Record("api", "@a/b", false); err != nil {
			t.Errorf("killed %s, then run again: %v", step, err)
		}
		if got := read(t, w.Dir, clientJSON); got != new {
			t.Errorf("killed %s, then run again: client.json is %q", step, got)
		}
		if got := files(t, w.Dir); !cmp.Equal(got, []string{clientJSON}) {
			t.Errorf("killed %s, then run again: there are %v", step, got)
		}
	}
}

func TestRecord_WriterKilledAtAnyMomentLeavesReadableFile(t *testing.T) {
	w := newWorkspace(t, map[string]string{clientJSON: `{"settings": {}}`})
	for round := range 30 {
		child := writerProcess(w.Dir, "forever", "api")
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + round%5 {
			lines.Scan()
		}
		child.Process.Kill()
		child.Wait()
		if api := client(t, w).API.Text; !strings.HasPrefix(api, "@a/b") {
			t.Fatalf("round %d: api is %q", round, api)
		}
	}
	if _, err := client(t, w).Record("api", "@a/c", false); err != nil {
		t.Fatal(err)
	}
	if got := files(t, w.Dir); !cmp.Equal(got, []string{clientJSON}) {
		t.Errorf("there are %v", got)
	}
}

const writerEnv = "WORKSPACE_TEST_WRITER"

// writerProcess is this test again, as [TestWriterProcess] in a process of its own.
func writerProcess(dir, mode, field string) *exec.Cmd {
	child := exec.Command(os.Args[0], "-test.run=^TestWriterProcess$")
	child.Env = append(os.Environ(), writerEnv+"="+strings.Join([]string{dir, mode, field}, "|"))
	return child
}

func TestWriterProcess(t *testing.T) {
	arguments := strings.Split(os.Getenv(writerEnv), "|")
	if len(arguments) != 3 {
		t.Skip("this is the other process of the tests for writers at once")
	}
	dir, mode, field := arguments[0], arguments[1], arguments[2]
	killAt(t, mode)
	c := client(t, find(t, dir))
	for i := 0; i == 0 || mode == "forever"; i++ {
		if _, err := c.Record(field, "@a/b"+strings.Repeat("b", i%2), false); err != nil {
			t.Fatal(err)
		}
		if mode == "forever" {
			fmt.Println(i)
		}
	}
}

// killAt kills this process at a step of a write.
func killAt(t *testing.T, step string) {
	reached := func(here string) {
		if here == step {
			p, _ := os.FindProcess(os.Getpid())
			p.Kill()
			select {}
		}
	}
	workspace.OnSync(t, func(f *os.File) error {
		if info, err := f.Stat(); err == nil && info.IsDir() {
			reached("before directory sync")
			return f.Sync()
		}
		reached("before sync")
		err := f.Sync()
		reached("after sync")
		return err
	})
	workspace.OnExchange(t, func(root *os.Root, from, to string) error {
		reached("before exchange")
		err := atomicfile.Exchange(root, from, to)
		reached("after exchange")
		return err
	})
}

func wantFields(t *testing.T, dir string, n int) {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte(read(t, dir, clientJSON)), &members); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if members[fmt.Sprintf("field%d", i)] != "@a/b" {
			t.Errorf("field%d is %v", i, members[fmt.Sprintf("field%d", i)])
		}
	}
	if got := files(t, dir); !cmp.Equal(got, []string{clientJSON}) {
		t.Errorf("there are %v", got)
	}
}

func TestCheckWritable_LeavesNothingBehind(t *testing.T) {
	c := newClient(t, "{}")
	if err := c.CheckWritable(); err != nil {
		t.Error(err)
	}
	if got := files(t, c.Workspace().Dir); !cmp.Equal(got, []string{clientJSON}) {
		t.Errorf("there are %v", got)
	}
	if err := os.RemoveAll(filepath.Join(c.Workspace().Dir, ".tool")); err != nil {
		t.Fatal(err)
	}
	wantFault(t, c.CheckWritable(), failure.CodeNotRecorded,
		clientJSON+": cannot be written: no file can be created next to it: ")
}
