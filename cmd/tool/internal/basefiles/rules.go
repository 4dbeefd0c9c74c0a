package basefiles

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/text/unicode/norm"

	"example.com/projecthub/cmd/tool/internal/basefiles/ignore"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/term"
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

// builtIn returns the built-in rules: those for files that hold secrets, and the others. The first
// match names in lower case, because such files are dangerous in any case.
var builtIn = sync.OnceValues(func() (secrets, others *ignore.Rules) {
	rest, named, _ := bytes.Cut(defaults, []byte("# What holds secrets"))
	return ignore.Compile(named, builtInSource), ignore.Compile(rest, builtInSource)
})

// HoldsSecrets reports whether a built-in rule excludes a path because such files hold secrets.
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
	lower := tree.Folded(e.Path)
	inWorkspace := path.Join(tree.Folded(root), lower)
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

// GitIgnored returns the paths of those files below root that git ignores and does not
// track, which are probably not meant to be sent. The files are in path order. It returns
// none outside of a repository. An error means that it is not known what git ignores.
func GitIgnored(ctx context.Context, root string, files []*File) (paths []string, err error) {
	root, err = resolve(root)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	top, err := repository(root)
	if err != nil || top == "" {
		return nil, err
	}
	var names strings.Builder
	for _, f := range files {
		names.WriteString("./" + f.OnDisk + "\x00") // to git, a colon at the start of a path is special
	}
	// Without the index, git reads only the rules above these files.
	excluded, err := git(ctx, top, root, names.String(), "check-ignore", "--no-index", "--stdin", "-z")
	if err != nil || len(excluded) == 0 {
		return nil, err
	}
	tracked, err := git(ctx, top, root, "", "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if excluded["./"+f.OnDisk] && !within(tracked, f.OnDisk) {
			paths = append(paths, f.Path)
		}
	}
	return paths, nil
}

// repository returns the nearest directory with a .git, at or above dir; "" for none. Git
// itself would take a directory that looks like a bare repository, which may be among the
// files, and would refuse the repository of another user.
func repository(dir string) (string, error) {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
			return dir, err
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", nil
		}
		dir = above
	}
}

// git runs git in dir for the repository at top and returns the paths that it prints. It
// disables what makes git run other programs: a file system monitor, and a transport with
// which a partial clone fetches a missing object.
func git(ctx context.Context, top, dir, stdin string, args ...string) (paths map[string]bool, err error) {
	cmd, err := term.Command(ctx, "git", append([]string{"-c", "core.fsmonitor=false"}, args...)...)
	if err != nil {
		return nil, errors.New("git is not installed")
	}
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(cmd.Env, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(elsewhere, name)
	})
	cmd.Env = append(cmd.Env, "GIT_DIR="+filepath.Join(top, ".git"), "GIT_WORK_TREE="+top,
		"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1") // a setting could allow any protocol
	cmd.Stdin = strings.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1) { // 1: it found none
		line, _, _ := strings.Cut(stderr.String(), "\n")
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, line)
	}
	paths = map[string]bool{}
	for path := range strings.SplitAfterSeq(string(out), "\x00") {
		if path, ok := strings.CutSuffix(path, "\x00"); ok {
			paths[path] = true
		}
	}
	return paths, nil
}

// within reports whether set contains path or a directory above it, as that of a submodule.
func within(set map[string]bool, path string) bool {
	for i := range len(path) {
		if path[i] == '/' && set[path[:i]] {
			return true
		}
	}
	return set[path]
}

// elsewhere are environment variables that make git use a part of another repository, or
// refuse to check paths. A hook of git sets such variables.
var elsewhere = []string{
	"GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_LITERAL_PATHSPECS",
}
