package workspace

import (
	"errors"
	"io/fs"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
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
