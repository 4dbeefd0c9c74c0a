package apisource

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

type file struct {
	path string
	node *yaml.Node // its outermost value; its text for a file such as README.md
}

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+:|//)`)

// find returns what ref leads to and the file that has it. It returns nil if there is no ref, if
// ref leads to the network, or if it leads to nothing; it reports only the last.
func (b *bundler) find(ref *yaml.Node, f *file) (*yaml.Node, *file) {
	if b.err != nil || ref == nil || scheme.MatchString(ref.Value) { // on the network: neither read nor checked
		return nil, nil
	}
	if len(ref.Value) > maxRef { // an alias may repeat it a million times
		b.report(f, ref, "the reference is longer than %d characters", maxRef)
		return nil, nil
	}
	name, fragment, _ := strings.Cut(ref.Value, "#")
	in := f
	inside := name == "" && f == b.root // a linter reports what does not exist there
	if name != "" {
		if in = b.openFile(ref, name, f); in == nil {
			return nil, nil
		}
	}
	decoded, err := url.PathUnescape(fragment)
	if err != nil || decoded != "" && decoded[0] != '/' {
		isAnchor := b.anchors && err == nil && name == ""
		if !inside && !isAnchor {
			b.report(f, ref, "%q is not of the form FILE#/…", ref.Value)
		}
		return nil, nil
	}
	target := in.node
	for _, segment := range strings.Split(decoded, "/")[1:] {
		if target = b.step(target, unescape(segment)); target == nil {
			if !inside {
				b.report(f, ref, "%q does not exist: %s has no #%s", ref.Value, in.path, decoded)
			}
			return nil, nil
		}
	}
	return target, in
}

// openFile returns a file to which f refers, or nil if it cannot be read, which it reports.
func (b *bundler) openFile(ref *yaml.Node, name string, f *file) *file {
	decoded, err := url.PathUnescape(name)
	if err != nil {
		decoded = name
	}
	at := path.Join(path.Dir(f.path), decoded)
	if path.IsAbs(decoded) || at == ".." || strings.HasPrefix(at, "../") {
		b.report(f, ref, "%q leads out of the workspace", ref.Value)
		return nil
	}
	if known, ok := b.files[at]; ok {
		return known
	}
	if len(b.files) >= MaxFiles {
		b.fail(f, fmt.Errorf("the description refers to more than %d files", MaxFiles))
		return nil
	}
	data, real, err := b.read(at)
	if err != nil {
		b.files[at] = nil
		b.report(f, ref, "%q cannot be read: %v", ref.Value, err)
		return nil
	}
	opened, known := b.files[real]
	if !known {
		if b.bytes += len(data); b.bytes > MaxBytes {
			b.fail(f, errTooLarge)
			return nil
		}
		b.order = append(b.order, real)
		opened = b.parseFile(real, data)
	}
	b.files[at], b.files[real] = opened, opened
	return opened
}

// parseFile returns a file with its text, or nil if it is malformed, which it reports.
func (b *bundler) parseFile(name string, text []byte) *file {
	f := &file{path: name}
	if slices.Contains([]string{".md", ".txt", ".html"}, path.Ext(name)) {
		f.node = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(text)}
		return f
	}
	root, problem := parse(name, text)
	if problem != nil {
		b.problems = append(b.problems, *problem)
		return nil
	}
	f.node = b.copyOf(root, f)
	return f
}

func (b *bundler) report(f *file, at *yaml.Node, format string, args ...any) {
	isKnown := func(p Problem) bool { return p.File == f.path && p.Line == at.Line && p.Column == at.Column }
	if len(b.problems) >= maxProblems || slices.ContainsFunc(b.problems, isKnown) {
		return
	}
	detail := fmt.Sprintf(format, args...)
	b.problems = append(b.problems, Problem{File: f.path, Line: at.Line, Column: at.Column, Detail: detail})
}

// copy returns n with a copy of its value for each alias.
func (b *bundler) copy(n *yaml.Node, depth int) (*yaml.Node, error) {
	if b.left--; b.left < 0 {
		return nil, fmt.Errorf("the description has more than %d values, counting each use of a YAML alias", maxValues)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: values are nested more than %d deep, or an alias contains itself",
			n.Line, maxDepth)
	}
	if n.Kind == yaml.AliasNode {
		return b.copy(n.Alias, depth+1)
	}
	c := *n
	c.Anchor, c.Content = "", make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		var err error
		if c.Content[i], err = b.copy(child, depth+1); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// copyOf returns a copy of a value of f, an empty value if it is too large.
func (b *bundler) copyOf(n *yaml.Node, f *file) *yaml.Node {
	c, err := b.copy(n, 0)
	if err != nil {
		b.fail(f, err)
		return &yaml.Node{}
	}
	return c
}

func get(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// index returns the members of a mapping by their names, of those with the same one the first.
func index(n *yaml.Node) map[string]*yaml.Node {
	all := map[string]*yaml.Node{}
	for i := len(n.Content)/2*2 - 2; i >= 0 && n.Kind == yaml.MappingNode; i -= 2 {
		all[n.Content[i].Value] = n.Content[i+1]
	}
	return all
}

// step returns the child of n with this segment of a JSON pointer, or nil.
func (b *bundler) step(n *yaml.Node, segment string) *yaml.Node {
	if n.Kind == yaml.SequenceNode {
		i, err := strconv.Atoi(segment)
		if err != nil || i < 0 || i >= len(n.Content) {
			return nil
		}
		return n.Content[i]
	}
	if b.indexes[n] == nil {
		b.indexes[n] = index(n)
	}
	return b.indexes[n][segment]
}

// child returns the mapping that is a member of n, which gets one if it has none.
func child(n *yaml.Node, name string) *yaml.Node {
	c := get(n, name)
	if c == nil {
		c = &yaml.Node{}
		add(n, name, c)
	}
	if c.Kind != yaml.MappingNode {
		*c = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	return c
}

func add(n *yaml.Node, name string, value *yaml.Node) {
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, value)
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1").Replace
	unescape = strings.NewReplacer("~1", "/", "~0", "~").Replace
)
