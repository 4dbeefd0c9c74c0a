//go:build unix

package basefiles_test

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

func TestChoose_CountsSymlinksAndNeverFollowsThem(t *testing.T) {
	outside := plant(t, named("secret", "dir/secret"))
	root := plant(t, named("a", "dir/b"))
	for name, target := range map[string]string{
		"in": "a", "indir": "dir", "out": outside + "/secret", "outdir": outside + "/dir", "up": "..",
		"loop": "loop", "dir/parent": "..", "dangling": "nowhere", "dir/absolute": root + "/a",
	} {
		link(t, target, filepath.Join(root, name))
	}
	must(t, os.Link(filepath.Join(root, "a"), filepath.Join(root, "hard")))
	s := choose(t, at(root))
	wantPaths(t, s, "a", "dir/b", "hard")
	if s.Links != 9 || s.Others != 0 {
		t.Errorf("%d links and %d others, want 9 and 0", s.Links, s.Others)
	}
	for _, e := range hash(t, s) {
		if e.Path != "hard" && e.SHA256 != digest(e.Path) {
			t.Errorf("%s is not what it was", e.Path)
		}
	}
}

func TestChoose_CountsSpecialFilesAndNeverOpensThem(t *testing.T) {
	root := plant(t, named("a"))
	t.Chdir(root) // a socket's path must be short
	must(t, syscall.Mkfifo("pipe", 0o666))
	socket, err := net.Listen("unix", "socket")
	must(t, err)
	defer socket.Close()
	want := []basefiles.Skip{{"pipe", "named pipe"}, {"socket", "socket"}}
	if syscall.Mknod("null", syscall.S_IFCHR|0o666, 1<<8|3) == nil { // only root may
		want = append([]basefiles.Skip{{"null", "device"}}, want...)
	}
	s := choose(t, basefiles.Options{Workspace: ".", Root: ".", ListSkipped: true})
	wantPaths(t, s, "a")
	if diff := cmp.Diff(want, s.Skipped); diff != "" || s.Others != len(want) || s.Links != 0 {
		t.Errorf("%d others, %d links, skipped (-want +got):\n%s", s.Others, s.Links, diff)
	}
}

// swaps are what may take a name's place between choosing and reading. Each
// must fail, and reveal nothing of what is outside.
var swaps = map[string]func(t *testing.T, root, outside string){
	"a link to a file outside": func(t *testing.T, root, outside string) {
		replace(t, root+"/dir/file", func(name string) error { return os.Symlink(outside+"/dir/file", name) })
	},
	"a link to a file inside": func(t *testing.T, root, _ string) {
		replace(t, root+"/dir/file", func(name string) error { return os.Symlink("../.env", name) })
	},
	"a directory by a link": func(t *testing.T, root, outside string) {
		replace(t, root+"/dir", func(name string) error { return os.Symlink(outside+"/dir", name) })
	},
	"a named pipe": func(t *testing.T, root, _ string) {
		replace(t, root+"/dir/file", func(name string) error { return syscall.Mkfifo(name, 0o666) })
	},
	"a directory": func(t *testing.T, root, _ string) {
		replace(t, root+"/dir/file", func(name string) error { return os.Mkdir(name, 0o777) })
	},
	"a file for the directory": func(t *testing.T, root, _ string) {
		replace(t, root+"/dir", func(name string) error { return os.WriteFile(name, nil, 0o666) })
	},
	"the app root by a link": func(t *testing.T, root, outside string) {
		replace(t, root, func(name string) error { return os.Symlink(outside, name) })
	},
	"a directory above the app root by a link": func(t *testing.T, root, outside string) {
		replace(t, filepath.Dir(root), func(name string) error { return os.Symlink(filepath.Dir(outside), name) })
	},
}

func replace(t *testing.T, name string, with func(name string) error) {
	t.Helper()
	must(t, os.RemoveAll(name))
	must(t, with(name))
}

func TestHash_RejectsFileReplacedBySpecialFile(t *testing.T) {
	for what, swap := range swaps {
		t.Run(what, func(t *testing.T) {
			outside := plant(t, map[string]string{"apps/web/dir/file": "secret"})
			root := plant(t, map[string]string{"apps/web/dir/file": "public", "apps/web/.env": "inside"})
			s := choose(t, basefiles.Options{Workspace: root, Root: root + "/apps/web"})
			set := hash(t, s)
			swap(t, root+"/apps/web", outside+"/apps/web")

			_, err := s.Hash(ctx, nil)
			e := failure.Of(err)
			if e.Code != failure.CodeInvalidFile || !strings.HasPrefix(e.Error(), "read apps/web") {
				t.Errorf("Hash: %v (code %s)", err, e.Code)
			}
			if e.Hint != "it changed while it was read: run the command again" {
				t.Errorf("hint %q", e.Hint)
			}
			if _, err := s.Blobs().Open(set[0]); failure.Of(err).Code != failure.CodeInvalidFile {
				t.Errorf("Open: %v", err)
			}
		})
	}
}

// One goroutine swaps files and directories for links, over and over, while
// others choose, hash and read. Whatever comes of it, the secret does not.
func TestHash_RacesNeverReadOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes a second")
	}
	const rounds = 300
	outside := plant(t, map[string]string{"dir/file": "secret", "file": "secret"})
	root := plant(t, map[string]string{"dir/file": "public", "file": "public"})
	done := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		aside := root + "/.cache"
		must(t, os.Mkdir(aside, 0o777))
		for {
			for _, name := range []string{"dir", "file"} {
				select {
				case <-done:
					return
				default:
				}
				must(t, os.Rename(root+"/"+name, aside+"/"+name))
				must(t, os.Symlink(outside+"/"+name, root+"/"+name))
				must(t, os.Remove(root+"/"+name))
				must(t, os.Rename(aside+"/"+name, root+"/"+name))
			}
		}
	})
	o := at(root)
	o.AllowEmpty = true
	hashed := 0
	for range rounds {
		s, err := basefiles.Choose(ctx, o)
		if err != nil {
			continue
		}
		set, err := s.Hash(ctx, nil)
		if err != nil {
			continue
		}
		for _, e := range set.Tree {
			hashed++
			if e.SHA256 != digest("public") {
				t.Fatalf("%s was read from outside", e.Path)
			}
			if r, err := s.Blobs().Open(e); err == nil {
				if text, err := io.ReadAll(r); err == nil && string(text) != "public" {
					t.Fatalf("%s holds %q", e.Path, text)
				}
				r.Close()
			}
		}
	}
	close(done)
	swapper.Wait()
	t.Logf("%d files hashed in %d rounds", hashed, rounds)
}

func TestHash_UnreadableFileIsNamed(t *testing.T) {
	if os.Getuid() == 0 {
		asNobody(t) // root may read everything
		return
	}
	root := plant(t, named("dir/a", "excluded.log/a", "file"))
	deny := func(name string) {
		must(t, os.Chmod(name, 0))
		t.Cleanup(func() { must(t, os.Chmod(name, 0o777)) })
	}
	deny(root + "/excluded.log")
	deny(root + "/file")
	_, err := choose(t, at(root)).Hash(ctx, nil)
	if e := wantFault(t, err, failure.CodeInvalidFile,
		"read file: permission denied"); e.Hint != "make it readable, or exclude it in .toolignore" {
		t.Errorf("hint %q", e.Hint)
	}
	deny(root + "/dir")
	_, err = basefiles.Choose(ctx, at(root))
	wantFault(t, err, failure.CodeInvalidFile, "read dir: permission denied")
}

// asNobody runs the test in a process of a user without rights.
func asNobody(t *testing.T) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = os.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		lack(t, "no process without root's rights could be started: "+err.Error())
	case err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRestoreWrite_KeepsModeAndOwner(t *testing.T) {
	root := plant(t, map[string]string{"private": "mine"})
	must(t, os.Chmod(filepath.Join(root, "private"), 0o640))
	uid := uint32(os.Geteuid())
	if uid == 0 {
		uid = 65534
		must(t, os.Chown(root, 65534, 65534))
		must(t, os.Chown(filepath.Join(root, "private"), 65534, 65534))
	}
	runs := entryOf("private", "theirs")
	runs.Mode = tree.Executable
	r := restore(t, root, runs, entryOf("sub/new", "new"))
	must(t, r.Write(runs, strings.NewReader("theirs")))
	must(t, r.Write(entryOf("sub/new", "new"), strings.NewReader("new")))
	for name, mode := range map[string]fs.FileMode{"private": 0o750, "sub/new": 0o644, "sub": fs.ModeDir | 0o755} {
		is, err := os.Lstat(filepath.Join(root, name))
		must(t, err)
		if got := is.Sys().(*syscall.Stat_t).Uid; got != uid || is.Mode() != mode {
			t.Errorf("%s: %v of %d, want %v of %d", name, is.Mode(), got, mode, uid)
		}
	}
}
