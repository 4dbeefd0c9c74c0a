package workspace

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

// Schema is where an API description is: at a URL, or in a file.
type Schema struct {
	URL  string // http or https; "" for a file
	File string // relative to the workspace, with /, cleaned; "" for a URL

	source    Field
	workspace *Workspace
}

// Schema returns what source names. The failure is invalid_file, or
// outside_workspace when it is a file outside of the workspace.
func (c *Client) Schema() (*Schema, error) {
	if !c.Source.Present() {
		return nil, invalid(c.doc.name, errors.New(`no "source"`)).WithHint(sourceHint)
	}
	s := &Schema{source: c.Source, workspace: c.local.Workspace}
	var err error
	if s.URL, s.File, err = parseSource(c.Source.Text); err == nil && s.URL == "" {
		_, err = s.workspace.resolve(s.File)
	}
	if err != nil {
		return nil, c.Source.At.blame("source", err)
	}
	return s, nil
}

// Read returns the content of the file, up to 16 MiB. A symlink that was put
// into its path meanwhile cannot lead out of the workspace.
func (s *Schema) Read() ([]byte, error) {
	data, err := s.workspace.read(s.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, s.source.At.blame("source", err).
			WithHint("write the API's description to it, or name an API of the hub: \"api\": \"@account/slug\"").
			Try(cmdline.Tool("api", "list"))
	case err != nil:
		return nil, s.source.At.blame("source", err)
	}
	return data, nil
}

// ReadFile returns the content of a file to which the description refers: see
// [Workspace.ReadFile].
func (s *Schema) ReadFile(name string) (data []byte, inside string, err error) {
	return s.workspace.ReadFile(name)
}

const sourceHint = "source is the API's description: a file of the workspace, or a URL with http or https"

// parseSource distinguishes a URL from a file's path, which it checks and cleans.
func parseSource(s string) (url, file string, err error) {
	scheme, _, found := strings.Cut(s, "://")
	switch scheme = strings.ToLower(scheme); {
	case found && (scheme == "http" || scheme == "https"):
		return s, "", nil
	case found && scheme != "" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+.-") == "":
		return "", "", failure.New(failure.CodeInvalidFile, "%q has another scheme than http and https", s).
			WithHint(sourceHint)
	case s == "":
		return "", "", failure.New(failure.CodeInvalidFile, "it is empty").WithHint(sourceHint)
	}
	file, err = localPath(s)
	return "", file, err
}

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
