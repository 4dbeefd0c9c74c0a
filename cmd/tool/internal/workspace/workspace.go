// Package workspace is the one place that knows the files under .tool/: it finds
// the workspace, reads client.json, stack.json, manifest.json and pulled.json,
// resolves the paths that they name, and changes them without touching a byte more
// than it must.
//
// A workspace may come from another person's repository, so nothing that its files
// say, nor any symlink in it, leads the client to a file outside of it.
//
// Failures are failure.Failure values without a stage. Files are named relative to
// the workspace, with /. The package knows no hub, flag, terminal or token.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/maruel/natural"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// toolDir is the directory that makes the one which holds it a workspace.
const toolDir = ".tool"

// Workspace is a directory that holds .tool.
type Workspace struct {
	Dir string // absolute, without symlinks

	root *os.Root // of Dir; closed by the runtime once the Workspace is out of use
}

// OtherOwner returns the id of the user who owns a workspace that root uses, "" if that is root.
func (w *Workspace) OtherOwner() string {
	if os.Geteuid() != 0 {
		return ""
	}
	for _, name := range []string{w.Dir, w.Path(toolDir)} {
		info, err := os.Lstat(name)
		if err != nil {
			return ""
		}
		if uid, _, _ := atomicfile.Owner(info); uid != 0 {
			return strconv.Itoa(uid)
		}
	}
	return ""
}

// Path returns the absolute form of a path that is relative to the workspace, with /.
func (w *Workspace) Path(name string) string { return filepath.Join(w.Dir, filepath.FromSlash(name)) }

// Locate resolves the symlinks of an absolute path as far as it exists, and returns
// the reserved directory that it is in then, "" for none: .tool, or one of version
// control, at any depth below the workspace, or anywhere when it is outside.
func (w *Workspace) Locate(name string) (resolved, reserved string, err error) {
	if resolved, err = resolve(name); err != nil {
		return "", "", err
	}
	below := resolved
	if rel, err := filepath.Rel(w.Dir, resolved); err == nil && filepath.IsLocal(rel) {
		below = rel
	}
	return resolved, tree.ReservedIn(filepath.ToSlash(below)), nil
}

// Find returns the workspace of dir: the nearest directory, at or above it, that
// holds a real directory .tool.
//
// The search does not climb into the home directory nor out of it, nor into a
// directory that belongs to neither the user nor the owner of dir: a .tool that was
// forgotten at home, or put into a shared directory, must not be the workspace of
// everything below it. A .tool of another owner does not count either. Without a
// workspace the failure is no_workspace.
func Find(dir string) (*Workspace, error) {
	start, err := realPath(dir)
	if err != nil {
		return nil, err
	}
	origin, err := os.Stat(start)
	if err == nil && !origin.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, noDirectory(dir, err)
	}
	foreign := "" // the nearest .tool of another user
	for at := start; ; {
		found, mine := hasTool(at, origin)
		if mine {
			return open(at)
		}
		if found && foreign == "" {
			foreign = at
		}
		parent := filepath.Dir(at)
		info, err := os.Stat(parent)
		if err != nil || parent == at || isHome(at) || isHome(parent) {
			return nil, noWorkspace(start, foreign)
		}
		if !trusted(info, origin) {
			if found, _ := hasTool(parent, origin); found && foreign == "" {
				foreign = parent
			}
			return nil, noWorkspace(start, foreign)
		}
		at = parent
	}
}

// hasTool reports whether dir has a real directory .tool, and whether that may be used.
func hasTool(dir string, origin fs.FileInfo) (found, mine bool) {
	tool, err := os.Lstat(filepath.Join(dir, toolDir))
	found = err == nil && tool.IsDir()
	return found, found && trusted(tool, origin)
}

// noWorkspace is the failure of a search from dir. foreign has a .tool of another user, "" for none.
func noWorkspace(dir, foreign string) error {
	if foreign != "" {
		return failure.New(failure.CodeNoWorkspace,
			"%s or its directory belongs to another user, so that it is not used", filepath.Join(foreign, toolDir)).
			WithHint("run the command as its owner, or change the owner if you trust what is in it")
	}
	return failure.New(failure.CodeNoWorkspace,
		"neither %s nor a directory above it holds a directory %s", dir, toolDir).
		WithHint("a workspace is a directory that holds %s: go to one, or name it with -C, or make one; "+
			"tool pull @account/slug makes one of a hub's project, and tool project list lists yours", toolDir).
		Try(cmdline.Tool("init").With(SlugOf(filepath.Base(dir))))
}

// open returns dir, which has no symlinks in it, as a workspace.
func open(dir string) (*Workspace, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, noDirectory(dir, err)
	}
	return &Workspace{Dir: dir, root: root}, nil
}

func noDirectory(dir string, err error) error {
	return failure.New(failure.CodeNoWorkspace, "directory %s: %w", dir, failure.Cause(err))
}

// realPath returns the absolute path of a directory, without symlinks.
func realPath(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return "", noDirectory(dir, err)
	}
	return absolute, nil
}

func isHome(dir string) bool {
	name, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	home, errHome := os.Stat(name)
	info, errDir := os.Stat(dir)
	return errHome == nil && errDir == nil && os.SameFile(home, info)
}

// trusted reports whether a file belongs to the user or to the owner of origin.
func trusted(info, origin fs.FileInfo) bool {
	uid, _, known := atomicfile.Owner(info)
	other, _, _ := atomicfile.Owner(origin)
	return !known || uid == os.Geteuid() || uid == other
}

const (
	clientFile   = "client.json"
	stackFile    = "stack.json"
	manifestFile = "manifest.json"
	pulledFile   = "pulled.json"
)

// Project is a local project: a directory directly under .tool that holds
// client.json or stack.json.
type Project struct {
	Name      string
	Workspace *Workspace
	Env       string // environment; "": none
}

// Projects lists the names of the local projects, sorted.
func (w *Workspace) Projects() ([]string, error) {
	entries, err := fs.ReadDir(w.root.FS(), toolDir)
	if err != nil {
		return nil, invalid(toolDir, failure.Cause(err))
	}
	names := []string{}
	for _, entry := range entries {
		if name := entry.Name(); isPlainName(name) && w.isProject(name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, natural.Compare) // shop-2 before shop-10
	return names, nil
}

func (w *Workspace) isProject(name string) bool {
	dir, err := w.resolve(path.Join(toolDir, name))
	if err != nil {
		return false
	}
	for _, file := range []string{clientFile, stackFile} {
		if _, err := w.root.Lstat(path.Join(dir, file)); err == nil {
			return true
		}
	}
	return false
}

// Project returns the local project called name. The failure no_local_project says
// what there is instead.
func (w *Workspace) Project(name string) (*Project, error) {
	if !isPlainName(name) || !w.isProject(name) {
		return nil, w.noProject(name)
	}
	return &Project{Name: name, Workspace: w}, nil
}

func (w *Workspace) noProject(name string) error {
	e := failure.New(failure.CodeNoLocalProject,
		"no local project %q: it would be a directory under %s that holds %s or %s",
		name, toolDir, clientFile, stackFile)
	names, err := w.Projects()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return e.WithHint("there is none yet").Try(cmdline.Tool("init").With(SlugOf(name)))
	}
	hint := "local projects: " + strings.Join(names, ", ")
	if near := cmdline.Nearest(path.Base(name), names); near != "" {
		hint = fmt.Sprintf("did you mean %s? %s", near, hint)
	}
	return e.WithHint("%s", hint)
}

// isPlainName reports whether name is one segment of a path on every system.
func isPlainName(name string) bool {
	return filepath.IsLocal(name) && name[0] != '.' && !strings.ContainsAny(name, "/\\:\x00")
}

// ClientPath returns the path of the file that names the destination, relative to the
// workspace, with /: client.json, or client.<env>.json of an environment.
func (p *Project) ClientPath() string {
	if p.Env == "" {
		return p.file(clientFile)
	}
	return p.file(clientPrefix + p.Env + clientSuffix)
}

func (p *Project) file(name string) string { return path.Join(toolDir, p.Name, name) }

// SlugOf returns a slug like name, web when nothing in it can be part of one.
func SlugOf(name string) string {
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	slug = strings.Trim(slug, "-")
	if !ref.ValidName(slug) {
		return "web"
	}
	return slug
}

// HubFile says which hub the workspace belongs to.
const HubFile = toolDir + "/hub.json"

const memberOrigin = "origin"

// Hub returns the origin of the hub that the workspace belongs to, as hub.json says, ""
// for none. The failure is invalid_file, with line and column.
func (w *Workspace) Hub() (origin string, err error) {
	doc, err := w.readDocument(HubFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	written, err := doc.origin()
	if err != nil {
		return "", err
	}
	if written == "" {
		return "", doc.at(0).invalid(`no "origin"`).WithHint(`hub.json holds {"origin": "https://hub.example.com"}`)
	}
	return written, nil
}

// origin returns the member origin in the form in which origins are compared, "" if it is absent.
func (d document) origin() (string, error) {
	written, err := d.field(memberOrigin)
	if err != nil || !written.Present() {
		return "", err
	}
	origin, err := hubclient.ParseOrigin(written.Text)
	if err != nil {
		return "", written.At.invalid("origin is %w", err)
	}
	return origin, nil
}

// RecordHub makes the hub at origin the workspace's, and reports whether hub.json changed. With keep, a file that
// exists stays. The failure is not_recorded.
func (w *Workspace) RecordHub(origin string, keep bool) (changed bool, err error) {
	changed, err = w.update(HubFile, true, func(old []byte) ([]byte, error) {
		switch {
		case old == nil: // a new file names its schema for editors
			return jsonedit.Format(textMembers(origin, "hub.json", memberOrigin, origin)), nil
		case keep:
			return old, nil
		}
		doc, err := parse(HubFile, old)
		if err != nil {
			return nil, err
		}
		return setField(doc, memberOrigin, origin), nil
	})
	if err != nil {
		return false, notRecorded(err)
	}
	return changed, nil
}
