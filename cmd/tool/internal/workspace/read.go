package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

// maxFile is the greatest size of a file that is read whole, in bytes.
const maxFile = 16 << 20

// invalid says what is wrong with the file called name.
func invalid(name string, err error) failure.Failure {
	return failure.New(failure.CodeInvalidFile, "%w", &Blamed{Position{File: name}, err})
}

// resolve follows the symlinks in name, a path in the workspace, and returns where
// they lead. What does not exist yet is taken as it is. The failure outside_workspace
// says that they lead out of the workspace.
func (w *Workspace) resolve(name string) (string, error) {
	real, err := resolve(filepath.Join(w.Dir, filepath.FromSlash(name)))
	if err != nil {
		return "", invalid(name, err)
	}
	return w.inside(name, real)
}

// resolve follows the symlinks in an absolute path as far as it exists.
func resolve(path string) (string, error) {
	existing, rest := path, ""
	for {
		real, err := filepath.EvalSymlinks(existing)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", failure.Cause(err)
		}
		if _, err := os.Lstat(existing); err == nil {
			return "", errors.New("a symlink that leads nowhere")
		}
		existing, rest = filepath.Dir(existing), filepath.Join(filepath.Base(existing), rest)
	}
}

// inside returns an absolute path as one in the workspace. It is what name leads to.
func (w *Workspace) inside(name, absolute string) (string, error) {
	inside, err := filepath.Rel(w.Dir, absolute)
	if err != nil || !filepath.IsLocal(inside) {
		return "", failure.New(failure.CodeOutsideWorkspace, "%s leads out of the workspace", name).
			WithHint("only files of the workspace are read, wherever a symlink points")
	}
	inside = filepath.ToSlash(inside)
	for segment := range strings.SplitSeq(inside, "/") {
		if reserved := tree.Reserved(segment); reserved != "" && reserved != toolDir {
			return "", failure.New(failure.CodeOutsideWorkspace, "%s leads into %s", name, segment).
				WithHint("no file of version control is read or written, wherever a symlink points")
		}
	}
	return inside, nil
}

// ReadFile returns the content of a regular file of the workspace, and where its symlinks
// lead: paths relative to the workspace, with /.
func (w *Workspace) ReadFile(name string) (data []byte, inside string, err error) {
	if inside, err = w.resolve(name); err != nil {
		return nil, "", err
	}
	data, err = w.readAll(inside)
	return data, inside, err
}

// read returns the content of a regular file of the workspace.
func (w *Workspace) read(name string) ([]byte, error) {
	inside, err := w.resolve(name)
	if err != nil {
		return nil, err
	}
	data, err := w.readAll(inside)
	if err != nil {
		return nil, invalid(name, err)
	}
	return data, nil
}

// readAll reads a resolved path. The root refuses a symlink that was put there since.
func (w *Workspace) readAll(inside string) ([]byte, error) {
	// Opening a FIFO would wait for its writer.
	if info, err := w.root.Stat(inside); err != nil {
		return nil, failure.Cause(err)
	} else if info.IsDir() {
		return nil, errors.New("is a directory")
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := w.root.Open(inside)
	if err != nil {
		return nil, failure.Cause(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, failure.Cause(err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	return data, nil
}
