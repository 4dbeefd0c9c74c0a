package basefiles

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/text/unicode/norm"

	"example.com/projecthub/cmd/tool/internal/basefiles/ignore"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

const (
	toolignore    = ".toolignore"
	maxToolignore = 256 << 10 // bytes
	builtInSource = "built-in"
)

var (
	//go:embed built-in.gitignore
	defaults []byte
	//go:embed run.gitignore
	run []byte
)

// builtIn returns the built-in rules: those of files that hold secrets, which match names in
// lower case, because these files are read in any, and the others.
var builtIn = sync.OnceValues(func() (secrets, others *ignore.Rules) {
	rest, named, _ := bytes.Cut(defaults, []byte("# What holds secrets"))
	return ignore.Compile(named, builtInSource), ignore.Compile(rest, builtInSource)
})

// HoldsSecrets reports whether a built-in rule excludes a path because of the secrets that
// such files hold.
func HoldsSecrets(name string) bool {
	secrets, _ := builtIn()
	return excludes(secrets, strings.ToLower(name))
}

// reason returns the rule that excludes a path, for people.
func reason(rule *ignore.Rule) string {
	if rule.Source == builtInSource {
		return fmt.Sprintf("%s (%s)", rule.Pattern, rule.Source)
	}
	return fmt.Sprintf("%s (%s:%d)", rule.Pattern, rule.Source, rule.Line)
}

// readToolignore reads the rules of the app root; without a file, there are none.
// It converts them to NFC, because they are matched against paths in NFC.
func (s *Selection) readToolignore() (*ignore.Rules, error) {
	text, err := readIn(s.workspace, path.Join(s.root, toolignore), maxToolignore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failure.New(failure.CodeInvalidFile, "read %s: %w", s.name(toolignore), failure.Cause(err)).
			WithHint("it must be a file of at most %d KiB in the workspace", maxToolignore>>10)
	}
	return ignore.Compile(norm.NFC.Bytes(text), toolignore), nil
}

// readIn reads a regular file below dir. It follows symbolic links, but not out of dir.
func readIn(dir, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := root.Lstat(name); lerr == nil {
			return nil, errors.New("it is a broken link")
		}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	is, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !is.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it is larger than %d KiB", limit>>10)
	}
	return text, err
}

// runRules match, in lower case, files that other programs run, or read what to run from.
var runRules = sync.OnceValue(func() *ignore.Rules { return ignore.Compile(run, "") })

// ToConfirm reports whether a person is to be asked before a file is added to an app: it
// says what a push sends, or no push would send it, or other programs run it. root is where the
// app is in the workspace: a hub's config can say that it is in .github/workflows.
func ToConfirm(root string, e tree.Entry) bool {
	lower := strings.ToLower(e.Path) // as some file systems read it
	inWorkspace := path.Join(strings.ToLower(root), lower)
	_, others := builtIn()
	return e.Mode == tree.Executable || lower == toolignore || excludes(runRules(), inWorkspace) ||
		HoldsSecrets(inWorkspace) || HoldsSecrets(e.Path) || excludes(others, e.Path) || excludes(others, lower)
}

// excludes reports whether rules exclude a file, or a directory that it is in.
func excludes(rules *ignore.Rules, name string) bool {
	for dir := false; name != "."; name, dir = path.Dir(name), true {
		if rule := rules.Match(name, dir); rule != nil && !rule.Keeps {
			return true
		}
	}
	return false
}
