package apisource

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// file is a file of the description.
type file struct {
	path string
	node *yaml.Node // its outermost value; its text for a file such as README.md
}

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+:|//)`)

// find returns what ref leads to and the file that has it; nil for no ref, and if that is on
// the network, or nothing, which is reported.
func (b *bundler) find(ref *yaml.Node, f *file) (*yaml.Node, *file, error) {
	if ref == nil || scheme.MatchString(ref.Value) { // on the network: neither read nor checked
		return nil, nil, nil
	}
	name, fragment, _ := strings.Cut(ref.Value, "#")
	in := f
	inside := name == "" && f == b.root // which is for a linter
	if name != "" {
		var err error
		if in, err = b.openFile(ref, name, f); err != nil || in == nil {
			return nil, nil, err
		}
	}
	decoded, err := url.PathUnescape(fragment)
	if err != nil || decoded != "" && decoded[0] != '/' {
		if inside || b.anchors && err == nil && name == "" { // an anchor
			return nil, nil, nil
		}
		b.report(f, ref, "%q is not of the form FILE#/…", ref.Value)
		return nil, nil, nil
	}
	target := in.node
	for _, segment := range strings.Split(decoded, "/")[1:] {
		if target = b.step(target, unescape(segment)); target == nil {
			if !inside {
				b.report(f, ref, "%q does not exist: %s has no #%s", ref.Value, in.path, decoded)
			}
			return nil, nil, nil
		}
	}
	return target, in, nil
}

// openFile returns a file to which f refers, or nil if it cannot be read, which it reports.
func (b *bundler) openFile(ref *yaml.Node, name string, f *file) (*file, error) {
	decoded, err := url.PathUnescape(name)
	if err != nil {
		decoded = name
	}
	at := path.Join(path.Dir(f.path), decoded)
	if path.IsAbs(decoded) || at == ".." || strings.HasPrefix(at, "../") {
		b.report(f, ref, "%q leads out of the workspace", ref.Value)
		return nil, nil
	}
	if known, ok := b.files[at]; ok {
		return known, nil
	}
	if len(b.files) >= MaxFiles {
		return nil, fmt.Errorf("%s: the description refers to more than %d files", f.path, MaxFiles)
	}
	data, real, err := b.read(at)
	if err != nil {
		b.files[at] = nil
		b.report(f, ref, "%q cannot be read: %v", ref.Value, err)
		return nil, nil
	}
	if known, ok := b.files[real]; ok {
		b.files[at] = known
		return known, nil
	}
	if b.bytes += len(data); b.bytes > MaxBytes {
		return nil, fmt.Errorf("%s: %w", f.path, errTooLarge)
	}
	b.order = append(b.order, real)
	opened := &file{path: real}
	switch path.Ext(real) {
	case ".md", ".txt", ".html":
		opened.node = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(data)}
	default:
		root, problem := parse(real, data)
		if problem != nil {
			b.problems = append(b.problems, *problem)
			opened = nil
		} else if opened.node, err = b.copy(root, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", real, err)
		}
	}
	b.files[at], b.files[real] = opened, opened
	return opened, nil
}

func (b *bundler) report(f *file, at *yaml.Node, format string, args ...any) {
	p := Problem{File: f.path, Line: at.Line, Column: at.Column, Detail: fmt.Sprintf(format, args...)}
	if len(b.problems) < maxProblems && !slices.Contains(b.problems, p) {
		b.problems = append(b.problems, p)
	}
}
