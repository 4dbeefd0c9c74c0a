package basefiles

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"example.com/projecthub/cmd/tool/internal/child"
)

// GitIgnored returns the paths of the files that git ignores and does not track, which
// are probably not meant to be pushed. The files are of s, in path order. It returns none
// if git is not installed or the root is not in a repository.
func (s *Selection) GitIgnored(ctx context.Context, files []*File) (paths []string) {
	if len(files) == 0 {
		return nil
	}
	var names strings.Builder
	for _, f := range files {
		names.WriteString("./" + f.OnDisk + "\x00") // a colon at the start has a meaning
	}
	// Without the index, git reads only the rules above these files. It fails if no rule
	// excludes any, as in most repositories.
	excluded, err := s.git(ctx, names.String(), "check-ignore", "--no-index", "--stdin", "-z")
	if err != nil {
		return nil
	}
	tracked, err := s.git(ctx, "", "ls-files", "-z")
	if err != nil {
		return nil
	}
	for _, f := range files {
		if excluded["./"+f.OnDisk] && !within(tracked, f.OnDisk) {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// git runs git in the root and returns the paths that it prints. It disables what makes git
// run other programs: a file system monitor, and a transport with which a partial clone
// fetches a missing object.
func (s *Selection) git(ctx context.Context, stdin string, args ...string) (paths map[string]bool, err error) {
	cmd, err := child.Command(ctx, "git", append([]string{"-c", "core.fsmonitor=false"}, args...)...)
	if err != nil {
		return nil, err
	}
	cmd.Dir = filepath.Join(s.workspace, filepath.FromSlash(s.root))
	cmd.Env = append(slices.DeleteFunc(cmd.Env, elsewhere), "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1") // a setting could allow any protocol
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	paths = map[string]bool{}
	for path := range strings.SplitSeq(string(out), "\x00") {
		paths[path] = true
	}
	return paths, err
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

// elsewhere reports whether an environment variable makes git use another repository
// than that of its directory, or refuse to check paths. A hook of git sets such variables.
func elsewhere(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_LITERAL_PATHSPECS"}, name)
}
