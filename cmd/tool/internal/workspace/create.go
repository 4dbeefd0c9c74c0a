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
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
)

// Start is what a new local project starts with.
type Start struct {
	Source   string  // file of the workspace, or URL; "" is openapi.yaml, or openapi.json where only that exists
	BasePath string  // "" is src
	Stack    ref.Ref // the zero Ref leaves the name to the first publish
	Hub      string  // origin of the hub that has the JSON Schemas of the files, "" for none
	Sample   fs.FS   // files of a workspace with one local project, to start with; nil for none
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
		return nil, failure.New(hubclient.CodeInvalidName,
			"%q cannot name a new local project: its name is %s", name, ref.Rule).
			Try(cmdline.Tool("init").With(SlugOf(name)))
	}
	p, made, err := create(dir, name)
	if err != nil {
		return nil, err
	}
	if err := made.project(p, start); err != nil {
		made.undo()
		return nil, err
	}
	return made.files, nil
}

// CreateFor makes a local project for the hub project r in dir, as Create does: its client.json has
// this destination, and no settings until a pull has written them, so that no push can send empty ones.
// undo removes it again, unless it was changed. The hub at schemas has its JSON Schema.
func CreateFor(dir string, r ref.Ref, schemas string) (p *Project, undo func(), err error) {
	p, made, err := create(dir, r.Slug())
	if err != nil {
		return nil, nil, err
	}
	text := jsonedit.Format(textMembers(schemas, clientFile, memberProject, r.String()))
	if err := made.file(p.ClientPath(), text); err != nil {
		made.undo()
		return nil, nil, err
	}
	return p, func() {
		if present, err := made.root.ReadFile(p.ClientPath()); err == nil && bytes.Equal(present, text) {
			made.undo()
		}
	}, nil
}

func create(dir, name string) (*Project, *creation, error) {
	root, err := realPath(dir)
	if err != nil {
		return nil, nil, err
	}
	w, err := open(root)
	if err != nil {
		return nil, nil, err
	}
	return &Project{Name: name, Workspace: w}, &creation{root: w.root}, nil
}

// CreateEnvironment creates the file of the project's environment, on the hub at origin, ""
// for the workspace's. The hub at schemas has its JSON Schema, "" for none. A file that
// exists is an invalid_file, and stays.
func (p *Project) CreateEnvironment(origin, schemas string) error {
	members := textMembers(schemas, "client.env.json", memberOrigin, origin)
	members = append(members, jsonedit.Member{Name: memberSettings, Value: jsonedit.Object(nil)})
	made := creation{root: p.Workspace.root}
	if err := made.file(p.ClientPath(), jsonedit.Format(members)); err != nil {
		made.undo()
		return err
	}
	return nil
}

// creation makes files, and can take them back with the directories made for them.
type creation struct {
	root  *os.Root
	files []string
	all   []string // files and directories, in the order in which they were created
}

func (c *creation) project(p *Project, start Start) error {
	if start.Sample != nil {
		return c.sample(p, start)
	}
	start.Source, start.BasePath = cmp.Or(start.Source, c.description()), cmp.Or(start.BasePath, "src")
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
	settings := jsonedit.Object(textMembers("", "", "basePath", start.BasePath))
	client := with(textMembers(start.Hub, clientFile, memberSource, start.Source), memberSettings, settings)
	if err := c.file(p.ClientPath(), jsonedit.Format(client)); err != nil {
		return err
	}
	stack := textMembers(start.Hub, stackFile, "name", start.Stack.String(), "version", "0.1.0")
	if err := c.file(p.file(stackFile), jsonedit.Format(stack)); err != nil {
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

// sample creates the files of a sample. Its local project gets the name of p, and its stack
// the name of start.
func (c *creation) sample(p *Project, start Start) error {
	return fs.WalkDir(start.Sample, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(start.Sample, name)
		if err != nil {
			return err
		}
		if own, ok := strings.CutPrefix(name, toolDir+"/"); ok {
			_, own, _ = strings.Cut(own, "/")
			name = p.file(own)
			if own == clientFile || own == stackFile {
				doc, err := parse(name, text)
				if err != nil {
					return err
				}
				members, more := doc.Members, textMembers(start.Hub, own)
				if own == stackFile {
					members, more = without(members, "name"), textMembers(start.Hub, own, "name", start.Stack.String())
				}
				text = doc.Edit(slices.Concat(members, more))
			}
		}
		return c.file(name, text)
	})
}

var descriptions = []string{
	"openapi.yaml", "openapi.yml", "openapi.json",
	"swagger.yaml", "swagger.yml", "swagger.json",
}

// description returns the first usual name that exists, else the first of all.
func (c *creation) description() string {
	for _, name := range descriptions {
		if _, err := c.root.Stat(name); err == nil {
			return name
		}
	}
	return descriptions[0]
}

// gitignore returns the rules of the app root's .gitignore, for its .toolignore to start with.
func (c *creation) gitignore(name string) ([]byte, error) {
	info, err := c.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	if info.Size() > maxGitignore {
		return nil, invalid(name, fmt.Errorf(
			"it is larger than %d KiB, so that .toolignore cannot start with its rules", maxGitignore>>10))
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
		return unwritable(name, err)
	}
	f, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return invalid(name, fs.ErrExist).
			WithHint("nothing is overwritten: choose another name, or remove the file")
	}
	if err != nil {
		return unwritable(name, err)
	}
	c.all = append(c.all, name)
	c.files = append(c.files, name)
	_, err = f.Write(text)
	if err = errors.Join(err, atomicfile.KeepOwnerOf(f, c.root, path.Dir(name)), f.Close()); err != nil {
		return unwritable(name, err)
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
	err := atomicfile.Mkdir(c.root, name)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	c.all = append(c.all, name) // or its owner could not be changed
	return err
}

func (c *creation) undo() {
	for _, name := range slices.Backward(c.all) {
		c.root.Remove(name)
	}
}

// textMembers returns members with texts: where editors find the JSON Schema of the files called
// file, on the hub at origin hub, "" for none, then pairs of a name and a text, "" for none.
func textMembers(hub, file string, pairs ...string) (members []jsonedit.Member) {
	if hub != "" {
		pairs = append([]string{"$schema", hubclient.FileSchemaURL(hub, file)}, pairs...)
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			members = append(members, jsonedit.Member{Name: pairs[i], Value: jsonedit.String(pairs[i+1])})
		}
	}
	return members
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
