package workspace

import (
	"path"
	"strings"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

// BasePath returns settings.basePath as it is written. It may be absent.
func (c *Client) BasePath() (Field, error) {
	for _, l := range c.layers() {
		v, ok := l.settings.Lookup("basePath")
		removed := isNull(&v) && l.doc.name != c.doc.name // by the environment
		if removed {
			break
		}
		if ok {
			return l.doc.text("settings.basePath", v)
		}
	}
	return Field{}, nil
}

// AppRoot returns the directory of basePath, which base files are collected from:
// relative to the workspace, with /, symlinks resolved. It need not exist. Without
// basePath, or with one directly in the workspace, it is ".", the workspace.
//
// The failure is invalid_file, or outside_workspace when basePath leads out of the
// workspace, by its text or by a symlink, or to where no app is.
func (c *Client) AppRoot() (string, error) {
	written, err := c.BasePath()
	if err != nil || !written.Present() {
		return ".", err
	}
	root, err := c.local.Workspace.AppRootOf(written.Text)
	if err != nil {
		return "", written.At.blame("settings.basePath", err)
	}
	return root, nil
}

// AppRootOf is [Client.AppRoot] of any basePath, such as that of a config.
func (w *Workspace) AppRootOf(basePath string) (string, error) {
	base, err := localPath(basePath)
	if err != nil {
		return "", err
	}
	// basePath may be a symlink itself, so that its directory alone says too little.
	if _, err := w.resolve(base); err != nil {
		return "", err
	}
	root, err := w.resolve(path.Dir(base))
	if err != nil {
		return "", err
	}
	for name := range strings.SplitSeq(root, "/") {
		if tree.Reserved(name) != "" {
			return "", failure.New(failure.CodeOutsideWorkspace, "%s is in %s, which no app is in", basePath, name)
		}
	}
	return root, nil
}

// localPath checks a path that a file names: relative to the workspace, within it,
// and written alike on every system. It returns the path cleaned. The failure is
// invalid_file or outside_workspace.
func localPath(s string) (string, error) {
	slashed := strings.ReplaceAll(s, `\`, "/")
	clean := path.Clean(slashed)
	hasDrive := len(s) > 1 && s[1] == ':'
	switch {
	case path.IsAbs(slashed) || hasDrive:
		return "", failure.New(failure.CodeOutsideWorkspace, "%q is absolute", s).
			WithHint("a path is relative to the workspace, the directory that holds %s", toolDir)
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return "", failure.New(failure.CodeOutsideWorkspace, "%q leads out of the workspace", s)
	case slashed != s:
		return "", failure.New(failure.CodeInvalidFile, "%q holds a backslash", s).WithHint("write it as %s", clean)
	case strings.ContainsRune(s, 0):
		return "", failure.New(failure.CodeInvalidFile, "%q holds a null character", s)
	}
	return clean, nil
}
