package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/owner"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
)

// Start is what a new local project starts with.
type Start struct {
	Source   string  // file of the workspace, or URL; "" is openapi.yaml
	BasePath string  // "" is src
	Stack    ref.Ref // the zero Ref leaves the name to the first publish
}

// Create makes the local project name in dir, which becomes a workspace if it is
// none, even inside another: client.json, stack.json of version 0.1.0, and in the
// app root a .toolignore with the rules of its .gitignore, unless one is there. It returns the
// files that it wrote, relative to dir.
//
// It overwrites nothing: when client.json or stack.json is there, and after any
// other failure, nothing is written. A name that is no slug is an invalid_name.
func Create(dir, name string, start Start) (files []string, err error) {
	if !ref.ValidName(name) {
		return nil, failure.New(hubclient.CodeInvalidName, "%q cannot name a new local project: its name is %s", name, ref.Rule).
			Try(cmdline.Tool("init").With(SlugOf(name)))
	}
	root, err := realPath(dir)
	if err != nil {
		return nil, err
	}
	w, err := open(root)
	if err != nil {
		return nil, err
	}
	made := creation{root: w.root}
	if err := made.project(&Project{name, w}, start); err != nil {
		made.undo()
		return nil, err
	}
	return made.files, nil
}

// creation makes files, and can take them back with the directories made for them.
type creation struct {
	root  *os.Root
	files []string
	all   []string // files and directories, in the order of their making
}

func (c *creation) project(p *Project, start Start) error {
	start.Source, start.BasePath = cmp.Or(start.Source, "openapi.yaml"), cmp.Or(start.BasePath, "src")
	if _, _, err := parseSource(start.Source); err != nil {
		return blame("source", err)
	}
	appRoot, err := p.Workspace.AppRootOf(start.BasePath)
	if err != nil {
		return blame("base path", err)
	}
	if info, err := c.root.Lstat(toolDir); err == nil && !info.IsDir() {
		return invalid(toolDir, errors.New("not a directory"))
	}
	if err := c.file(p.ClientPath(), clientTemplate(start)); err != nil {
		return err
	}
	if err := c.file(p.file(stackFile), stackTemplate(start.Stack)); err != nil {
		return err
	}
	ignore := path.Join(appRoot, ".toolignore")
	if _, err := c.root.Lstat(ignore); err == nil {
		return nil // another local project's, with the same app root
	}
	rules, err := c.gitignore(path.Join(appRoot, ".gitignore"))
	if err != nil {
		return err
	}
	return c.file(ignore, slices.Concat([]byte(ignoreTemplate), rules))
}

// gitignore returns the rules of the app root's .gitignore, for its .toolignore to start with.
func (c *creation) gitignore(name string) ([]byte, error) {
	info, err := c.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	if info.Size() > maxGitignore {
		return nil, invalid(name, fmt.Errorf("it is larger than %d KiB, so that .toolignore cannot start with its rules", maxGitignore>>10))
	}
	text, err := c.root.ReadFile(name)
	if err != nil {
		return nil, invalid(name, failure.Cause(err))
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return slices.Concat([]byte("\n# What .gitignore said when this file was made.\n"), text), nil
}

// maxGitignore leaves room for the template within what a .toolignore may have.
const maxGitignore = 250 << 10

func (c *creation) file(name string, text []byte) error {
	if err := c.directory(path.Dir(name)); err != nil {
		return unwritable(name, failure.Cause(err))
	}
	f, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return invalid(name, errors.New("it already exists")).WithHint("nothing is overwritten: choose another name, or remove the file")
	}
	if err != nil {
		return unwritable(name, failure.Cause(err))
	}
	c.all = append(c.all, name)
	c.files = append(c.files, name)
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close(), owner.KeepNew(c.root, name)); err != nil {
		return unwritable(name, failure.Cause(err))
	}
	return nil
}

func (c *creation) directory(name string) error {
	if name == "." {
		return nil
	}
	if err := c.directory(path.Dir(name)); err != nil {
		return err
	}
	err := c.root.Mkdir(name, 0o755)
	if err == nil {
		c.all = append(c.all, name)
		err = owner.KeepNew(c.root, name)
	} else if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func (c *creation) undo() {
	for _, name := range slices.Backward(c.all) {
		c.root.Remove(name)
	}
}

func clientTemplate(start Start) []byte {
	basePath := jsonedit.Member{Name: "basePath", Value: jsonedit.String(start.BasePath)}
	return jsonedit.Format([]jsonedit.Member{
		{Name: memberSource, Value: jsonedit.String(start.Source)},
		{Name: memberSettings, Value: jsonedit.Object([]jsonedit.Member{basePath})},
	})
}

func stackTemplate(stack ref.Ref) []byte {
	var members []jsonedit.Member
	if !stack.IsZero() {
		members = append(members, jsonedit.Member{Name: "name", Value: jsonedit.String(stack.String())})
	}
	return jsonedit.Format(append(members, jsonedit.Member{Name: "version", Value: jsonedit.String("0.1.0")}))
}

const ignoreTemplate = `# What stays here when base files are pushed, by the rules of .gitignore.
#
# Left out without a rule: .git, node_modules, build output, caches, logs,
# editors' files, .env files, keys, generated files, and .tool itself.
# A line that starts with ! takes something back in. Examples:
#
#   /drafts/
#   *.local.json
#   !/dist/
`
