package basefiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/projecthub/cmd/tool/internal/term"
)

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
		names.WriteString("./" + f.OnDisk + "\x00") // a colon at the start has a meaning
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
