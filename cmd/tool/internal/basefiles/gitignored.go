package basefiles

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"example.com/projecthub/cmd/tool/internal/child"
)

// GitIgnored returns the paths of the files of s that git ignores and does not track,
// which are probably not meant to be pushed. It returns none if git is not installed or
// the root is not in a repository.
func GitIgnored(ctx context.Context, s *Selection) (paths []string) {
	if len(s.Files) == 0 {
		return nil
	}
	root := filepath.Join(s.workspace, filepath.FromSlash(s.root))
	// git fails in a directory below an ignored one, so it runs at the top.
	at, err := git(ctx, root, "rev-parse", "--show-cdup", "--show-prefix")
	up, rest, _ := strings.Cut(at, "\n")
	prefix := strings.TrimSuffix(rest, "\n")
	if err != nil {
		return nil
	}
	out, err := git(ctx, filepath.Join(root, up), "--literal-pathspecs",
		"ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z", "--", "./"+strings.TrimSuffix(prefix, "/"))
	if err != nil {
		return nil
	}
	ignored := map[string]bool{} // a path that ends in a slash is a directory with all files below it
	for path := range strings.SplitSeq(out, "\x00") {
		ignored[path] = true
	}
	for _, f := range s.Files {
		if within(ignored, prefix+f.OnDisk) {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// git runs git in dir. It disables the setting that makes git run another program.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd, err := child.Command(ctx, "git", append([]string{"-c", "core.fsmonitor=false"}, args...)...)
	if err != nil {
		return "", err
	}
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(cmd.Env, elsewhere)
	out, err := cmd.Output()
	return string(out), err
}

// within reports whether set contains path or a directory above it.
func within(set map[string]bool, path string) bool {
	for i := range len(path) {
		if path[i] == '/' && set[path[:i+1]] {
			return true
		}
	}
	return set[path]
}

// elsewhere reports whether an environment variable makes git use another repository
// than that of its directory. A hook of git sets such variables.
func elsewhere(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE"}, name)
}
