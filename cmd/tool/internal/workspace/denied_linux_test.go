package workspace_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"example.com/projecthub/hubclient/wire"
)

// asNobody runs f without root's power over files. Linux drops it with the thread's
// file system user, so that the test needs no other process.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody = 65534
	if err := syscall.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setfsuid(0)
	f()
}

func TestWhatMayNotBeWrittenIsNotRecorded(t *testing.T) {
	for _, c := range []struct {
		name      string
		file, dir os.FileMode
		reason    string
	}{
		{"read-only directory", 0o666, 0o555, ": cannot be written: no file can be made beside it: permission denied"},
		{"read-only file", 0o444, 0o777, ": cannot be written: permission denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := newClient(t, "{}")
			dir := client.Workspace().Dir
			openUp(t, dir)
			chmod(t, filepath.Join(dir, clientJSON), c.file)
			chmod(t, filepath.Dir(filepath.Join(dir, clientJSON)), c.dir)
			asNobody(t, func() {
				_, err := client.Record("api", "@a/b")
				wantFault(t, err, wire.CodeNotRecorded, clientJSON+c.reason)
				wantFault(t, client.CheckWritable(), wire.CodeNotRecorded, clientJSON+c.reason)
			})
			chmod(t, filepath.Dir(filepath.Join(dir, clientJSON)), 0o755)
			if got := read(t, dir, clientJSON); got != "{}" {
				t.Errorf("client.json is now %s", got)
			}
		})
	}
}

func TestWhatMayNotBeReadIsSaidByName(t *testing.T) {
	w := newWorkspace(t, map[string]string{clientJSON: "{}", ".tool/web/stack.json": "{}"})
	openUp(t, w.Dir)
	chmod(t, filepath.Join(w.Dir, clientJSON), 0)
	p := project(t, w)
	asNobody(t, func() {
		_, err := p.Client()
		wantFault(t, err, wire.CodeInvalidFile, clientJSON+": permission denied")
	})
}

func TestAFIFOIsRefusedUnopened(t *testing.T) {
	w := newWorkspace(t, map[string]string{".tool/web/stack.json": "{}"})
	if err := syscall.Mkfifo(filepath.Join(w.Dir, clientJSON), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := project(t, w).Client()
	wantFault(t, err, wire.CodeInvalidFile, clientJSON+": not a regular file")
}

// openUp lets everybody reach dir, whose parents a test makes for its user alone.
func openUp(t *testing.T, dir string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for ; strings.HasPrefix(dir, top+"/"); dir = filepath.Dir(dir) {
		chmod(t, dir, 0o755)
	}
}

func chmod(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}
