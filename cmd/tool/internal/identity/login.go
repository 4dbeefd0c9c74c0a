package identity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/flock"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// Login is what the login file holds for one origin.
type Login struct {
	Origin    string       `json:"origin"`
	Token     string       `json:"token"`
	User      string       `json:"user"`
	Scopes    []wire.Scope `json:"scopes"`
	ExpiresAt *time.Time   `json:"expiresAt"` // null: never

	Later jsontext.Value `json:",embed"` // members of a later version of this program
}

type loginFile struct {
	Current string  `json:"current"` // origin of the hub in use; "": none is
	Logins  []Login `json:"logins"`  // one for each origin, sorted

	Later jsontext.Value `json:",embed"`
}

// Logins is the login file. It is not safe for concurrent use; two programs can change one file.
type Logins struct {
	loginFile
	dir string // of the file
}

// LoadLogins reads the login file in dir. A missing one is empty.
func LoadLogins(dir string) (l *Logins, err error) {
	l = &Logins{dir: dir}
	if l.loginFile, err = readFile(l.path()); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Logins) path() string { return filepath.Join(l.dir, "login.json") }

// readFile reads a login file. A missing one is empty. The failure quotes nothing of the file,
// because what is damaged may be a token.
func readFile(path string) (loginFile, error) {
	var f loginFile
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, failure.New(failure.CodeInvalidFile, "the login file cannot be read: %w", err)
	}
	err = wire.Decode(data, &f, json.RejectUnknownMembers(false))
	if err == nil {
		err = f.normalizeOrigins()
	}
	if err != nil {
		return f, failure.New(failure.CodeInvalidFile, "the login file %s is damaged", path).
			WithHint("remove it and log in again")
	}
	return f, nil
}

// normalizeOrigins rewrites every origin to the form in which origins are compared.
func (f *loginFile) normalizeOrigins() (err error) {
	if f.Current != "" {
		if f.Current, err = hubclient.ParseOrigin(f.Current); err != nil {
			return err
		}
	}
	for i := range f.Logins {
		if f.Logins[i].Origin, err = hubclient.ParseOrigin(f.Logins[i].Origin); err != nil {
			return err
		}
	}
	return nil
}

// Warning says that others can read the login file, "" when they cannot. It is "" on Windows,
// where the permissions of a file do not say.
func (l *Logins) Warning() string {
	if runtime.GOOS == "windows" {
		return ""
	}
	info, err := os.Stat(l.path())
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return fmt.Sprintf("others can read your tokens in %s: chmod 600 it", l.path())
}

// Find returns the entry of origin, and whether there is one.
func (f *loginFile) Find(origin string) (Login, bool) {
	i := slices.IndexFunc(f.Logins, func(e Login) bool { return e.Origin == origin })
	if i < 0 {
		return Login{}, false
	}
	return f.Logins[i], true
}

// Put adds an entry, or replaces that of the same origin, and makes its hub the current one.
func (l *Logins) Put(entry Login) error {
	return l.edit(func(f *loginFile) {
		f.remove(entry.Origin)
		f.Logins = append(f.Logins, entry)
		slices.SortFunc(f.Logins, func(a, b Login) int { return strings.Compare(a.Origin, b.Origin) })
		f.Current = entry.Origin
	})
}

// Remove drops the entry of origin, whose hub is then not the current one, and reports whether there was one.
func (l *Logins) Remove(origin string) (existed bool, err error) {
	if _, existed = l.Find(origin); existed {
		err = l.edit(func(f *loginFile) { f.remove(origin) })
	}
	return existed, err
}

func (f *loginFile) remove(origin string) {
	f.Logins = slices.DeleteFunc(f.Logins, func(e Login) bool { return e.Origin == origin })
	if f.Current == origin {
		f.Current = ""
	}
}

// lockTime bounds how long a change waits for another program, which may be suspended.
const lockTime = 30 * time.Second

// edit changes the file as it is by now, so that nothing is lost when two programs log in at once. The file is
// readable by its owner alone, and written in one step.
func (l *Logins) edit(change func(*loginFile)) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return l.notWritten(err)
	}
	lock := flock.New(filepath.Join(l.dir, ".login.json.lock"), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	locked, err := lock.TryLockContext(ctx, 5*time.Millisecond)
	if errors.Is(err, context.DeadlineExceeded) {
		return l.notWritten(errors.New("another program has locked it"))
	}
	if locked { // a file system without locks, which is another error, is no reason to store nothing
		defer lock.Close()
	}
	now, err := readFile(l.path())
	if err != nil {
		return err
	}
	change(&now)
	data, err := json.Marshal(now, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	// A symbolic link is replaced, not followed.
	if err := atomicfile.WriteFile(l.path(), append(data, '\n')); err != nil {
		return l.notWritten(err)
	}
	l.loginFile = now
	return nil
}

// notWritten says why the login file was not written. A temporary file's name would not help.
func (l *Logins) notWritten(err error) error {
	return failure.New(failure.CodeInvalidFile, "the login file %s cannot be written: %w", l.path(), failure.Cause(err))
}
