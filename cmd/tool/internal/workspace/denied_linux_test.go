package workspace_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
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
	if err := syscall.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setfsuid(0)
	f()
}

func TestRecord_DeniedWriteFails(t *testing.T) {
	for _, c := range []struct {
		name      string
		file, dir os.FileMode
		reason    string
	}{
		{"read-only directory", 0o666, 0o555, ": cannot be written: no file can be created next to it: permission denied"},
		{"read-only file", 0o444, 0o777, ": cannot be written: permission denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := newClient(t, "{}")
			dir := client.Workspace().Dir
			openUp(t, dir)
			chmod(t, filepath.Join(dir, clientJSON), c.file)
			chmod(t, filepath.Dir(filepath.Join(dir, clientJSON)), c.dir)
			asNobody(t, func() {
				_, err := client.Record("api", "@a/b", false)
				wantFault(t, err, failure.CodeNotRecorded, clientJSON+c.reason)
				wantFault(t, client.CheckWritable(), failure.CodeNotRecorded, clientJSON+c.reason)
			})
			chmod(t, filepath.Dir(filepath.Join(dir, clientJSON)), 0o755)
			if got := read(t, dir, clientJSON); got != "{}" {
				t.Errorf("client.json is now %s", got)
			}
		})
	}
}

func TestRead_DeniedFileIsNamed(t *testing.T) {
	w := newWorkspace(t, map[string]string{clientJSON: "{}", ".tool/web/stack.json": "{}"})
	openUp(t, w.Dir)
	chmod(t, filepath.Join(w.Dir, clientJSON), 0)
	p := project(t, w)
	asNobody(t, func() {
		_, err := p.Client()
		wantFault(t, err, failure.CodeInvalidFile, clientJSON+": permission denied")
	})
}

func TestRead_RejectsFIFOUnopened(t *testing.T) {
	w := newWorkspace(t, map[string]string{".tool/web/stack.json": "{}"})
	if err := syscall.Mkfifo(filepath.Join(w.Dir, clientJSON), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := project(t, w).Client()
	wantFault(t, err, failure.CodeInvalidFile, clientJSON+": not a regular file")
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

const nobody = 65534

func TestFind_ReportsAToolDirectoryOfAnotherUser(t *testing.T) {
	needRoot(t)
	w := newWorkspace(t, map[string]string{clientJSON: "{}", "sub/x": "x"})
	openUp(t, w.Dir)
	chown(t, filepath.Join(w.Dir, ".tool"), nobody)
	for _, dir := range []string{w.Dir, filepath.Join(w.Dir, "sub")} {
		_, err := workspace.Find(dir)
		wantFault(t, err, failure.CodeNoWorkspace,
			filepath.Join(w.Dir, ".tool")+" or its directory belongs to another user, so that it is not used")
	}
}

func TestUpdate_KeepsTheOwner(t *testing.T) {
	needRoot(t)
	client := newClient(t, "{}")
	w := client.Workspace()
	chown(t, filepath.Join(w.Dir, clientJSON), nobody)
	if _, err := client.Record("api", "@a/b", false); err != nil {
		t.Fatal(err)
	}
	chown(t, filepath.Join(w.Dir, ".tool/web"), nobody)
	destination, err := ref.Parse("@a/b")
	if err != nil {
		t.Fatal(err)
	}
	if err := project(t, w).RecordPulled(here,
		workspace.Pulled{Project: destination, Revision: strings.Repeat("a", 64)}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{clientJSON, ".tool/web/pulled.json"} {
		wantOwner(t, filepath.Join(w.Dir, name), nobody)
	}
}

func TestCreate_KeepsTheOwnerOfTheDirectory(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	chown(t, dir, nobody)
	files, err := workspace.Create(dir, "web", workspace.Start{BasePath: "apps/web/src"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, ".tool", ".tool/web", "apps", "apps/web") {
		wantOwner(t, filepath.Join(dir, name), nobody)
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can change owners")
	}
}

func chown(t *testing.T, name string, uid int) {
	t.Helper()
	if err := os.Chown(name, uid, uid); err != nil {
		t.Fatal(err)
	}
}

func wantOwner(t *testing.T, name string, uid uint32) {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Sys().(*syscall.Stat_t).Uid; got != uid {
		t.Errorf("%s belongs to %d, want %d", name, got, uid)
	}
}
