package identity_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
)

const loginFile = "login.json"

func load(t testing.TB, dir string) *identity.Logins {
	t.Helper()
	l, err := identity.LoadLogins(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func put(t testing.TB, l *identity.Logins, e identity.Login) {
	t.Helper()
	if err := l.Put(e); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, dir, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, loginFile)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func modeOf(t testing.TB, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func TestLogins_RoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "tool")
	expiry := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	entries := []identity.Login{
		{Origin: a, Token: tokenA, User: "alice", Scopes: []wire.Scope{wire.ScopeWriteCatalog}, ExpiresAt: &expiry},
		{Origin: b, Token: tokenB, User: "@acme/ci", Scopes: []wire.Scope{}},
	}
	l := load(t, dir)
	for _, e := range entries {
		put(t, l, e)
	}
	got := load(t, dir)
	if diff := cmp.Diff(entries, got.Logins); diff != "" || got.Current != b || got.Warning() != "" {
		t.Errorf("current %s, warning %q, %s", got.Current, got.Warning(), diff)
	}
	if _, ok := got.Find(c); ok {
		t.Error("there is an entry that nobody stored")
	}
}

func TestLogins_CurrentOriginFollowsPutAndRemove(t *testing.T) {
	l := load(t, t.TempDir())
	check := func(current string, count int) {
		t.Helper()
		if l.Current != current || len(l.Logins) != count {
			t.Errorf("current %q of %d, want %q of %d", l.Current, len(l.Logins), current, count)
		}
	}
	for i, origin := range []string{b, a, c} {
		put(t, l, identity.Login{Origin: origin, Token: tokenA})
		check(origin, i+1)
	}
	put(t, l, identity.Login{Origin: a, Token: tokenB})
	check(a, 3)
	if entry, _ := l.Find(a); entry.Token != tokenB {
		t.Error("the former token is kept")
	}
	for _, step := range []struct {
		remove, current string
		existed         bool
		left            int
	}{{"https://never", a, false, 3}, {c, a, true, 2}, {a, "", true, 1}, {a, "", false, 1}, {b, "", true, 0}} {
		if existed, err := l.Remove(step.remove); existed != step.existed || err != nil {
			t.Errorf("Remove(%s) = %v, %v", step.remove, existed, err)
		}
		check(step.current, step.left)
	}
	for _, origin := range []string{a, b, c} {
		put(t, l, identity.Login{Origin: origin, Token: tokenA})
	}
	if _, err := l.Remove(c); err != nil {
		t.Error(err)
	}
	check("", 2)
}

func TestLoadLogins_MissingFileIsEmpty(t *testing.T) {
	l := load(t, filepath.Join(t.TempDir(), "absent"))
	if l.Current != "" || len(l.Logins) != 0 || l.Warning() != "" {
		t.Errorf("%+v", l)
	}
}

func TestLoadLogins_DamagedFileIsNamedAndNotQuoted(t *testing.T) {
	for _, text := range []string{
		"", " ", "{", "[]", "null", `"` + tokenA + `"`, tokenA, `{"current":7}`, `{"logins":{}}`, `{"logins":[7]}`,
		`{"logins":[{"token":7}]}`,
		`{"logins":[{"origin":"` + a + `","token":"` + tokenA + `"}],"logins":[]}`, `{"` + tokenA + `":1,"` + tokenA + `":2}`,
		"{\"current\":\"\xff\"}", "\ufeff{}",
		`{"logins":[{"origin":"` + a + `","expiresAt":"` + tokenA + `"}]}`, `{"logins":[{"origin":"` + tokenA + `"}]}`,
		`{"logins":[{"origin":""}]}`, `{"logins":[{}]}`,
		`{"current":"` + tokenA + `"}`, `{"current":"https://user:` + tokenA + `@hub"}`, `{"current":"https://hub/path"}`,
	} {
		dir := t.TempDir()
		path := write(t, dir, text, 0o600)
		_, err := identity.LoadLogins(dir)
		e := wantFault(t, err, failure.CodeInvalidFile)
		if e.Error() != "the login file "+path+" is damaged" || e.Hint != "remove it and log in again" {
			t.Errorf("%q: %v, %q", text, e, e.Hint)
		}
	}
}

func TestLoadLogins_UnreadableFileIsNotEmpty(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, loginFile), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := identity.LoadLogins(dir)
	if e := wantFault(t, err, failure.CodeInvalidFile); !strings.HasPrefix(e.Error(), "the login file cannot be read: ") {
		t.Error(e)
	}
}

func TestLoadLogins_NormalizesOrigins(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, `{"current":"HTTPS://A.example.com:443/","logins":[{"origin":"https://A.EXAMPLE.com","token":"`+tokenA+
		`","user":"alice"}]}`, 0o600)
	l := load(t, dir)
	if entry, ok := l.Find(a); !ok || entry.Token != tokenA || l.Current != a {
		t.Errorf("%+v", l)
	}
}

func TestLogins_KeepUnknownMembers(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, `{"theme":{"dark":true},"current":"`+a+`","logins":[{"origin":"`+a+`","token":"x","refresh":[1]}]}`,
		0o600)
	l := load(t, dir)
	put(t, l, identity.Login{Origin: b, Token: tokenB})
	text, err := os.ReadFile(filepath.Join(dir, loginFile))
	for _, part := range []string{`"dark": true`, `"refresh": [`} {
		if err != nil || !strings.Contains(string(text), part) {
			t.Errorf("%s is gone, %v: %s", part, err, text)
		}
	}
}

func TestLogins_LooseModeWarnsAndIsTightened(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	const text = `{"current":"` + a + `","logins":[]}`
	for mode, warns := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o644: true, 0o640: true, 0o604: true,
		0o666: true, 0o620: true} {
		dir := t.TempDir()
		path := write(t, dir, text, mode)
		l := load(t, dir)
		if got := l.Warning(); (got != "") != warns || warns &&
			got != "others can read your tokens in "+path+": chmod 600 it" {
			t.Errorf("%o: %q", mode, got)
		}
		put(t, l, identity.Login{Origin: b, Token: tokenB})
		if got := modeOf(t, path); got != 0o600 || load(t, dir).Warning() != "" || l.Warning() != "" {
			t.Errorf("%o becomes %o", mode, got)
		}
	}
}

func TestLogins_ReadSymlinkButNeverWriteThroughIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege here")
	}
	dir, elsewhere := t.TempDir(), t.TempDir()
	target := filepath.Join(elsewhere, "shared.json")
	const text = `{"current":"` + a + `","logins":[]}`
	if err := os.WriteFile(target, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, loginFile)
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	l := load(t, dir)
	if l.Current != a || l.Warning() == "" {
		t.Errorf("current %s, warning %q", l.Current, l.Warning())
	}
	put(t, l, identity.Login{Origin: b, Token: tokenB})
	if kept, err := os.ReadFile(target); err != nil || string(kept) != text || modeOf(t, path) != 0o600 {
		t.Errorf("the target holds %s, %v; the file's mode is %v", kept, err, modeOf(t, path))
	}
	if err := errors.Join(os.Rename(path, target), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
	put(t, l, identity.Login{Origin: b, Token: tokenB}) // the same content, but behind a link
	if modeOf(t, path) != 0o600 {
		t.Errorf("the file's mode is %v", modeOf(t, path))
	}
}

// Programs that log in at once, each to its own hub, all stay logged in.
func TestLogins_ConcurrentSavesLoseNothing(t *testing.T) {
	dir := t.TempDir()
	const n = 40
	var all sync.WaitGroup
	for i := range n {
		l := load(t, dir) // all have read the file before any writes it
		all.Go(func() {
			entry := identity.Login{Origin: fmt.Sprintf("https://hub%d.example.com", i), Token: pat.New()}
			if err := l.Put(entry); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := load(t, dir); len(got.Logins) != n || got.Current == "" {
		t.Errorf("%d of %d logins are there", len(got.Logins), n)
	}
	removing := load(t, dir)
	adding := load(t, dir)
	put(t, adding, identity.Login{Origin: a, Token: tokenA})
	if existed, err := removing.Remove("https://hub0.example.com"); !existed || err != nil {
		t.Error(existed, err)
	}
	got := load(t, dir)
	if _, added := got.Find(a); !added || len(got.Logins) != n {
		t.Errorf("%d logins are there", len(got.Logins))
	}
}

func TestLogins_ReadersNeverSeePartialFile(t *testing.T) {
	dir := t.TempDir()
	l := load(t, dir)
	put(t, l, identity.Login{Origin: a, Token: tokenA})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 100 {
			put(t, l, identity.Login{Origin: b, Token: tokenB, User: strings.Repeat("u", i*100)})
		}
	}()
	for {
		if got := load(t, dir); len(got.Logins) == 0 {
			t.Fatal("the file was empty for a moment")
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestLogins_FailedSaveLeavesNothingBehind(t *testing.T) {
	parent := t.TempDir()
	inTheWay := filepath.Join(parent, "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	asDirectory := filepath.Join(parent, "dir")
	if err := os.MkdirAll(filepath.Join(asDirectory, loginFile, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(inTheWay, "tool"), asDirectory} {
		l := logins(t, "", map[string]string{a: tokenA})
		l.MoveTo(dir)
		e := wantFault(t, l.Put(identity.Login{Origin: a, Token: tokenA}), failure.CodeInvalidFile)
		if !strings.HasPrefix(e.Error(), "the login file ") || strings.Contains(e.Error(), ".tmp") ||
			strings.Contains(e.Error(), tokenA[:12]) {
			t.Error(e)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(asDirectory, "*.tmp")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func FuzzLoadLogins(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"current":"http://hub","logins":[]}`,
		`{"logins":[{"origin":"http://hub","token":"x","scopes":["a"],"expiresAt":null,"later":1}],"later":{}}`,
		`{"logins":[{"origin":"http://hub","token":"x"}]}`, `[`, "",
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, loginFile)
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := identity.LoadLogins(dir)
		if err != nil {
			if err.Error() != "the login file "+path+" is damaged" {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		put(t, l, identity.Login{Origin: c, Token: tokenA})
		again := load(t, dir)
		// EquateEmpty has its say on two empty values, and no other option may.
		written := cmp.FilterValues(func(a, b jsontext.Value) bool { return len(a)+len(b) > 0 },
			cmp.Transformer("compact", compact))
		if diff := cmp.Diff(l.Logins, again.Logins, cmpopts.EquateEmpty(), written); diff != "" ||
			l.Current != again.Current {
			t.Errorf("%q becomes current %q, %s", text, again.Current, diff)
		}
	})
}

// compact returns a value as it is written, but for its white space.
func compact(v jsontext.Value) string {
	v = v.Clone()
	if err := v.Compact(); err != nil {
		return err.Error()
	}
	return string(v)
}
