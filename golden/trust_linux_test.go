package golden_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// changes are the system calls that change a file, or tell somebody that it has changed.
const changes = "write,writev,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat,linkat"

// traced is a strace that is attached to a running program.
type traced struct {
	t   *testing.T
	cmd *exec.Cmd
	log string
}

// strace attaches strace to a process, and returns once it watches all threads.
func strace(t *testing.T, pid int, args ...string) *traced {
	t.Helper()
	s := &traced{t: t, log: filepath.Join(t.TempDir(), "strace")}
	s.cmd = exec.Command(need(t, "strace", "apt-get install strace"),
		append([]string{"-f", "-o", s.log, "-p", strconv.Itoa(pid)}, args...)...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	if !lines.Scan() || !strings.Contains(lines.Text(), "attached") {
		t.Skipf("this machine does not allow strace: %s", lines.Text())
	}
	go func() {
		for lines.Scan() {
		}
	}()
	return s
}

// end detaches strace from its process, if that has not ended, and returns the log.
func (s *traced) end() string {
	s.t.Helper()
	s.cmd.Process.Signal(syscall.SIGTERM)
	s.cmd.Wait()
	text, err := os.ReadFile(s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// restart starts a hub anew, on its database and address, after it was killed.
func (w *world) restart() {
	w.t.Helper()
	h := w.hub
	h.cmd.Process.Kill()
	h.cmd.Wait()
	h.once.Do(func() {})
	w.hub = startHub(w.t, h.db, "--listen", h.listen)
}

// killed reports whether a program was ended by SIGKILL.
func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// The hub is killed at each system call of a push that changes a file or answers: a
// thread's first one, then its second one, and so on until the push is through.
func TestTrust_HubKilledAtEachChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"basePath": "src", "n": 0}`)
	former, config := w.holds(), 0
	deaths, acknowledged := 0, 0
	for i, survived := 0, 0; i < rounds(5, 500) && survived < 3; i++ {
		n := rounds(1+i*i, 1+i) // a few from the beginning to the end, or each
		want := w.scatter(12, 40<<10)
		w.setting(fmt.Sprintf(`{"basePath": "src", "n": %d}`, n))
		s := strace(t, w.hub.cmd.Process.Pid, "-e", "trace="+changes, "-e",
			fmt.Sprintf("inject=%s:signal=KILL:when=%d", changes, n))
		var stderr bytes.Buffer
		c := w.command("push", "web", "--base-files", "--no-input", "--timeout", "2s")
		c.Stderr = &stderr
		err := c.Run()
		s.end()
		w.hub.cmd.Process.Kill()
		w.hub.cmd.Wait()
		survived++
		if log, _ := os.ReadFile(s.log); bytes.Contains(log, []byte("INJECTED")) ||
			bytes.Contains(log, []byte("killed by SIGKILL")) {
			deaths, survived = deaths+1, 0
		}
		w.restart()
		now, number := w.archived(), w.number()
		switch {
		case !same(now, w.holds()):
			t.Fatal("the archive is not the set that is listed")
		case err == nil && (!same(now, want) || number != n):
			t.Fatalf("change %d: a push that was acknowledged is lost\n%s", n, &stderr)
		case !same(now, want) && !same(now, former):
			t.Fatalf("change %d: the set is mixed", n)
		case number != n && number != config:
			t.Fatalf("change %d: the config has %d, before it was %d", n, number, config)
		}
		if err == nil {
			acknowledged++
		}
		former, config = now, number
	}
	w.hub.admin(t, "fsck")
	w.pushFiles()
	if t.Logf("the hub was killed %d times, %d pushes were acknowledged, none of them lost", deaths,
		acknowledged); deaths == 0 {
		t.Error("no push was interrupted")
	}
}

// number returns the setting n of @alice/web.
func (w *world) number() int {
	w.t.Helper()
	m := regexp.MustCompile(`"n":(\d+)`).FindStringSubmatch(w.config())
	if m == nil {
		w.t.Fatalf("no number in %s", w.config())
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// set changes the config to n, and returns the status of the response.
func (w *world) set(n int) int {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodPatch, w.hub.origin+aliceWeb+"/config",
		strings.NewReader(fmt.Sprintf(`{"set": {"n": %d}}`, n)))
	if err != nil {
		w.t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + w.token, "Content-Type": "application/json",
		"If-Match": "*"} {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode >= 400 && resp.StatusCode != http.StatusInsufficientStorage &&
		resp.Header.Get("Retry-After") == "" {
		w.t.Errorf("edit %d: %s without Retry-After", n, resp.Status)
	}
	return resp.StatusCode
}

// A disk that fails, or becomes read-only, fails writes with 503 and leaves reads alone.
// The hub is not ready until the disk takes writes again, which it finds out by itself.
func TestTrust_FailingDisk(t *testing.T) {
	for _, fault := range []struct{ name, calls, errno string }{
		{"the disk fails to sync", "fsync,fdatasync", "EIO"}, {"the disk fails to write", "pwrite64", "EIO"},
		{"the disk is read-only", "pwrite64,ftruncate", "EROFS"},
	} {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `{"n": 0}`)
			refused, n, acknowledged := 0, 0, 0
			edit := func() (status int) {
				n++
				switch status = w.set(n); status {
				case 200:
					acknowledged = n
				case 503:
					refused++
				default:
					t.Fatalf("edit %d: status %d", n, status)
				}
				if seen := w.number(); seen != acknowledged {
					t.Fatalf("%d is read, %d was acknowledged", seen, acknowledged)
				}
				return status
			}
			fail := func(from int) *traced { // counted in each thread
				return strace(t, w.hub.cmd.Process.Pid, "-e", "trace="+fault.calls, "-e",
					fmt.Sprintf("inject=%s:error=%s:when=%d+", fault.calls, fault.errno, from))
			}
			for i := range rounds(3, 40) {
				s := fail(i%10 + 1)
				for failed := 0; failed < 2; {
					if edit() == 503 {
						failed++
					}
				}
				s.end()
				s = fail(1)
				if edit() != 503 {
					t.Error("a write was acknowledged that the disk refused")
				}
				if _, status := w.fetch("/readyz"); status != 503 {
					t.Errorf("/readyz is %d", status)
				}
				s.end()
				if _, status := w.fetch("/readyz"); status != 200 {
					t.Errorf("when the disk is well again, /readyz is %d", status)
				}
				if edit() != 200 {
					t.Errorf("when the disk is well again, edit %d is refused", n)
				}
			}
			w.restart()
			if seen := w.number(); seen != acknowledged {
				t.Errorf("after a restart %d is read, %d was acknowledged", seen, acknowledged)
			}
			w.hub.admin(t, "fsck")
			t.Logf("%d writes were refused, none was acknowledged and lost", refused)
		})
	}
}

// tmpfs returns a directory on a disk of its own.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	privileged(t, "mount", "-t", "tmpfs", "-o", options, "tmpfs", dir)
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
	return dir
}

// A full disk refuses writes with 507, and reads go on. Once there is room, so do writes.
func TestTrust_FullDisk(t *testing.T) {
	t.Parallel()
	disk := tmpfs(t, fmt.Sprintf("size=%dm", rounds(64, 192))) // the sets of all rounds stay
	w := newWorld(t, `{"basePath": "src", "n": 0}`)
	w.hub.stop(t)
	db := filepath.Join(disk, "hub.db")
	w.hub.admin(t, "backup", db)
	w.hub = startHub(t, "sqlite:"+db, "--listen", w.hub.listen)
	w.scatter(4, 40<<10)
	w.pushFiles()
	refused := 0
	for i := range rounds(3, 50) {
		former := w.holds()
		want := w.scatter(4, 40<<10)
		filler := fill(t, disk)
		var stderr bytes.Buffer
		for full := false; !full; {
			c := w.command("push", "web", "--base-files-only", "--no-input", "--timeout", "30s")
			c.Stderr = &stderr
			err := c.Run()
			if full = err != nil; !full {
				former, want = want, w.scatter(4, 40<<10) // what was free within the database
			}
		}
		if refused++; !strings.Contains(stderr.String(), "disk is full") {
			t.Errorf("round %d: %s", i, &stderr)
		}
		if now := w.holds(); !same(now, former) || !same(w.archived(), former) {
			t.Error("on a full disk, the set changed")
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		w.pushFiles()
		if !same(w.archived(), want) {
			t.Error("with room again, the push is not stored")
		}
	}
	w.hub.admin(t, "fsck")
	t.Logf("%d pushes were refused on a full disk, none in part", refused)
}

// fill takes what is free on a disk.
func fill(t *testing.T, disk string) string {
	t.Helper()
	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return filler
}

// On a disk that is read-only from the start, a hub says so and ends.
func TestTrust_ReadOnlyDiskAtStart(t *testing.T) {
	t.Parallel()
	disk := tmpfs(t, "size=16m")
	h := startHub(t, "sqlite:"+filepath.Join(disk, "hub.db"))
	h.stop(t)
	privileged(t, "mount", "-o", "remount,ro", disk)
	out, err := exec.Command(program("hub"), "serve", "--db", h.db, "--listen", "127.0.0.1:0").CombinedOutput()
	if codeOf(t, err) != 1 || !strings.HasPrefix(string(out), "error: ") ||
		!strings.Contains(string(out), h.db[len("sqlite:"):]) {
		t.Errorf("hub serve on a read-only disk: %v\n%s", err, out)
	}
}

// Of the hubs that start on one SQLite file at once, one serves; the others say why not.
func TestTrust_OneHubServesASQLiteFile(t *testing.T) {
	t.Parallel()
	db := sqlite(t, t.TempDir())
	startHub(t, db).stop(t)
	type started struct {
		cmd            *exec.Cmd
		stdout, stderr bytes.Buffer
	}
	all := make([]*started, rounds(8, 50))
	ended := make(chan *started, len(all))
	for i := range all {
		s := &started{cmd: exec.Command(program("hub"), "serve", "--db", db, "--listen", "127.0.0.1:0")}
		s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all[i] = s
		go func() { s.cmd.Wait(); ended <- s }()
	}
	over := map[*started]bool{}
	for range len(all) - 1 {
		s := <-ended
		over[s] = true
		if s.cmd.ProcessState.ExitCode() != 1 ||
			!strings.Contains(s.stderr.String(), "another hub is running on this database") ||
			!strings.Contains(s.stderr.String(), "stop it first") || s.stdout.Len() > 0 {
			t.Errorf("%v: %s%s", s.cmd.ProcessState, &s.stdout, &s.stderr)
		}
	}
	for _, s := range all {
		if over[s] {
			continue
		}
		late, err := exec.Command(program("hub"), "serve", "--db", db, "--listen", "127.0.0.1:0").CombinedOutput()
		if named := fmt.Sprintf("(process %d)", s.cmd.Process.Pid); codeOf(t, err) != 1 ||
			!strings.Contains(string(late), named) {
			t.Errorf("a late one does not say %s: %s", named, late)
		}
		migrated, err := exec.Command(program("hub"), "migrate", "--db", db).CombinedOutput()
		if codeOf(t, err) != 1 || !strings.Contains(string(migrated), "migrates its database when it starts") {
			t.Errorf("hub migrate while a hub runs: %s", migrated)
		}
		s.cmd.Process.Signal(syscall.SIGTERM)
	}
	if s := <-ended; s.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("the one that serves: %v: %s", s.cmd.ProcessState, &s.stderr)
	}
	t.Logf("1 of %d served", len(all))
}
