package apisource

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/projecthub/cmd/tool/internal/apisource/oas"
)

// file is a file of the description.
type file struct {
	path string
	node *yaml.Node // its outermost value; nil if it cannot be read
	text *string    // of a file that is not a description, such as README.md
}

// bundler moves what other files define into the document. What can be a component becomes
// one; the rest takes the place of the reference to it.
type bundler struct {
	read     ReadFile
	root     *file
	version  oas.Version
	files    map[string]*file
	order    []string
	bytes    int
	left     int // values that can still be copied
	problems []Problem
	changed  bool

	homes map[*yaml.Node]string // where a value of another file is in the document
	from  map[*yaml.Node]*file  // the files of values that were moved
	open  map[*yaml.Node]bool   // values that are being put in the place of references
	moved []component

	names   map[string]map[string]bool           // of the components, by their section
	last    map[string]int                       // number at the end of the last name that was free, by section and name
	indexes map[*yaml.Node]map[string]*yaml.Node // of large mappings
}

// component is a value that becomes a component of the document.
type component struct {
	section []string
	name    string
	value   *yaml.Node
	is      *oas.Type
	pointer string
}

func (b *bundler) bundle() error {
	b.version = versionOf(b.root.node)
	if err := b.components(); err != nil {
		return err
	}
	if err := b.visit(b.root.node, oas.Document(), b.root, "", 0); err != nil {
		return err
	}
	for i := 0; i < len(b.moved); i++ { // visiting one can move more
		m := b.moved[i]
		if err := b.visit(m.value, m.is, b.root, m.pointer, 0); err != nil {
			return err
		}
	}
	for _, m := range b.moved {
		place := b.root.node
		for _, name := range m.section {
			place = child(place, name)
		}
		add(place, m.name, m.value) // which no other component has as its name
	}
	return nil
}

func versionOf(root *yaml.Node) oas.Version {
	if get(root, "swagger") != nil {
		return oas.V20
	}
	stated := get(root, "openapi")
	switch {
	case stated != nil && strings.HasPrefix(stated.Value, "3.0"):
		return oas.V30
	case stated != nil && strings.HasPrefix(stated.Value, "3.1"):
		return oas.V31
	}
	return oas.V32
}

// sections are where a document keeps what is referred to.
func (b *bundler) sections() map[string][]string {
	if b.version == oas.V20 {
		return map[string][]string{"schema": {"definitions"}, "parameter": {"parameters"}, "response": {"responses"}}
	}
	s := map[string][]string{}
	for name, section := range map[string]string{
		"schema": "schemas", "response": "responses", "parameter": "parameters", "example": "examples", "requestBody": "requestBodies",
		"header": "headers", "securityScheme": "securitySchemes", "link": "links", "callback": "callbacks",
	} {
		s[name] = []string{"components", section}
	}
	return s
}

// components gives what the document's components refer to its place there, so that other
// references lead to it.
func (b *bundler) components() error {
	sections := b.sections()
	names := make([]string, 0, len(sections))
	for name := range sections {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		place, f, pointer := b.root.node, b.root, ""
		for _, segment := range sections[name] {
			place = get(place, segment)
			pointer += "/" + escape(segment)
			if place == nil {
				break
			}
			var err error
			if f, err = b.inlineWhole(place, f); err != nil {
				return err
			}
		}
		for i := 0; place != nil && place.Kind == yaml.MappingNode && i+1 < len(place.Content); i += 2 {
			entry := place.Content[i+1]
			target, from, err := b.target(entry, b.fileOf(entry, f))
			if err != nil {
				return err
			}
			if target == nil || from == b.root || b.homes[target] != "" {
				continue
			}
			b.homes[target] = "#" + pointer + "/" + escape(place.Content[i].Value)
			if err := b.replace(entry, target, from); err != nil {
				return err
			}
		}
	}
	return nil
}

// inlineWhole replaces n if it is a reference to another file, and returns the file of
// what is then there.
func (b *bundler) inlineWhole(n *yaml.Node, f *file) (*file, error) {
	f = b.fileOf(n, f)
	target, from, err := b.target(n, f)
	if err != nil || target == nil || from == b.root {
		return f, err
	}
	return from, b.replace(n, target, from)
}

func (b *bundler) fileOf(n *yaml.Node, f *file) *file {
	if from := b.from[n]; from != nil {
		return from
	}
	return f
}

// replace puts a copy of target in the place of n. Members next to $ref stay.
func (b *bundler) replace(n, target *yaml.Node, from *file) error {
	moved, err := b.copy(target, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", from.path, err)
	}
	b.changed = true
	own := n.Content
	comments := [3]string{n.HeadComment, n.LineComment, n.FootComment}
	*n = *moved
	if n.HeadComment == "" {
		n.HeadComment = comments[0]
	}
	delete(b.indexes, n)
	has := maps.Collect(members(n))
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(own); i += 2 {
		if own[i].Value != "$ref" && has[own[i].Value] == nil {
			n.Content = append(n.Content, own[i], own[i+1])
			b.from[own[i+1]] = b.root
		}
	}
	b.from[n] = from
	return nil
}

// visit follows the references in n, which is a t at this pointer of the document.
func (b *bundler) visit(n *yaml.Node, t *oas.Type, f *file, pointer string, depth int) error {
	f = b.fileOf(n, f)
	if t == nil || t.Kind == oas.Any || n.Kind == yaml.ScalarNode {
		return nil
	}
	if depth > maxDepth {
		return fmt.Errorf("%s: values are nested more than %d deep, or refer to themselves", f.path, maxDepth)
	}
	if ref := get(n, "$ref"); ref != nil && ref.Kind == yaml.ScalarNode && ref.Tag == "!!str" {
		done, err := b.reference(n, ref, t, f, pointer, depth)
		if done || err != nil {
			return err
		}
	}
	switch {
	case t.Kind == oas.Array && n.Kind == yaml.SequenceNode:
		for i, element := range n.Content {
			if err := b.visit(element, t.Of, f, pointer+"/"+strconv.Itoa(i), depth+1); err != nil {
				return err
			}
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i].Value, n.Content[i+1]
			of := t.Of
			if t.Kind == oas.Object {
				of = b.member(t, name)
			}
			if n.Content[i].Tag == "!!merge" {
				of = t
			}
			if t.Kind == oas.Object && t.Object.Name == "discriminator" && name == "mapping" {
				if err := b.mapping(value, f); err != nil {
					return err
				}
				continue
			}
			if err := b.visit(value, of, f, pointer+"/"+escape(name), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// member returns the type of a member of an object; nil for what is data.
func (b *bundler) member(t *oas.Type, name string) *oas.Type {
	if m := t.Object.Member(name, b.version); m != nil {
		return m.Type
	}
	if strings.HasPrefix(name, "x-") {
		return nil
	}
	if t.Object.Rest != nil {
		return t.Object.Rest
	}
	if first, known := t.Object.First(name); known {
		return t.Object.Member(name, first).Type
	}
	if t.Object.Name == "schema" && name == "definitions" {
		return oas.Lookup("components").Member("schemas", oas.V32).Type
	}
	return nil
}

// reference follows a reference n, and reports whether nothing else is to be visited in n.
func (b *bundler) reference(n, ref *yaml.Node, t *oas.Type, f *file, pointer string, depth int) (done bool, err error) {
	target, from, err := b.target(n, f)
	if err != nil || target == nil {
		return t.Kind != oas.Object, err
	}
	if from == b.root {
		_, fragment, _ := strings.Cut(ref.Value, "#")
		b.point(ref, "#"+fragment)
		return false, nil
	}
	if home := b.homes[target]; home != "" && t.Kind == oas.Object {
		b.point(ref, home)
		return false, nil
	}
	section := b.sections()[nameOf(t)]
	if section != nil && t.Object.RefIn(b.version) {
		return false, b.move(ref, target, from, t, section)
	}
	if b.open[target] {
		b.report(f, ref, "%q contains itself", ref.Value)
		return true, nil
	}
	b.open[target] = true
	defer delete(b.open, target)
	if nameOf(t) == "pathItem" {
		b.homes[target] = "#" + pointer
	}
	if err := b.replace(n, target, from); err != nil {
		return true, err
	}
	return true, b.visit(n, t, from, pointer, depth+1)
}

func nameOf(t *oas.Type) string {
	if t.Kind != oas.Object {
		return ""
	}
	return t.Object.Name
}

func (b *bundler) point(ref *yaml.Node, value string) {
	if ref.Value != value {
		ref.Value, b.changed = value, true
	}
}

// move makes target a component, and ref lead to it.
func (b *bundler) move(ref, target *yaml.Node, from *file, t *oas.Type, section []string) error {
	moved, err := b.copy(target, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", from.path, err)
	}
	b.from[moved] = from
	name := b.free(section, nameFor(ref.Value, from))
	pointer := "/" + strings.Join(section, "/") + "/" + name
	b.homes[target] = "#" + pointer
	b.moved = append(b.moved, component{section, name, moved, t, pointer})
	b.point(ref, "#"+pointer)
	return nil
}

// mapping follows the files in the mapping of a discriminator. Its values can also be
// names of schemas, so that only a file that exists is followed.
func (b *bundler) mapping(n *yaml.Node, f *file) error {
	schema := oas.Lookup("components").Member("schemas", oas.V32).Type.Of
	for i := 1; i < len(n.Content); i += 2 {
		value := n.Content[i]
		if value.Kind != yaml.ScalarNode || !strings.ContainsAny(value.Value, "./#") || b.fileOf(n, f) == b.root && strings.HasPrefix(value.Value, "#") {
			continue
		}
		problems := len(b.problems)
		target, from, err := b.find(value, f)
		if err != nil {
			return err
		}
		if target == nil && !strings.ContainsAny(value.Value, "/#") {
			b.problems = b.problems[:problems]
		}
		switch {
		case target == nil:
		case b.homes[target] != "":
			b.point(value, b.homes[target])
		case from == b.root:
			_, fragment, _ := strings.Cut(value.Value, "#")
			b.point(value, "#"+fragment)
		default:
			if err := b.move(value, target, from, schema, b.sections()["schema"]); err != nil {
				return err
			}
		}
	}
	return nil
}

// target returns what n refers to and the file that has it; nil if n is no reference to a
// file, or to nothing, which is reported.
func (b *bundler) target(n *yaml.Node, f *file) (*yaml.Node, *file, error) {
	ref := get(n, "$ref")
	if ref == nil || ref.Kind != yaml.ScalarNode || ref.Tag != "!!str" {
		return nil, nil, nil
	}
	return b.find(ref, f)
}

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+:|//)`)

func (b *bundler) find(ref *yaml.Node, f *file) (*yaml.Node, *file, error) {
	if scheme.MatchString(ref.Value) { // on the network: neither read nor checked
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
		if inside || b.version >= oas.V31 && err == nil && name == "" { // an anchor
			return nil, nil, nil
		}
		b.report(f, ref, "%q is not of the form FILE#/…", ref.Value)
		return nil, nil, nil
	}
	if in.text != nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: *in.text}, in, nil
	}
	target := in.node
	for _, segment := range strings.Split(decoded, "/")[min(1, len(decoded)):] {
		if decoded == "" {
			break
		}
		if target = b.step(target, unescape(segment)); target == nil {
			if !inside {
				b.report(f, ref, "%q does not exist: %s has no #%s", ref.Value, in.path, decoded)
			}
			return nil, nil, nil
		}
	}
	return target, in, nil
}

// openFile returns a file to which f refers. It reports a missing file and returns nil.
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
	if known := b.files[at]; known != nil {
		return known.readable(), nil
	}
	if len(b.files) >= MaxFiles {
		return nil, fmt.Errorf("%s: the description refers to more than %d files", f.path, MaxFiles)
	}
	data, real, err := b.read(at)
	if err != nil {
		b.files[at] = &file{path: at}
		b.report(f, ref, "%q cannot be read: %v", ref.Value, err)
		return nil, nil
	}
	if known := b.files[real]; known != nil {
		b.files[at] = known
		return known.readable(), nil
	}
	if b.bytes += len(data); b.bytes > MaxBytes {
		return nil, fmt.Errorf("%s: the description is larger than %d MiB with the files to which it refers", f.path, MaxBytes>>20)
	}
	opened := &file{path: real}
	b.files[at], b.files[real] = opened, opened
	b.order = append(b.order, real)
	switch path.Ext(real) {
	case ".md", ".txt", ".html":
		text := string(data)
		opened.text = &text
		return opened, nil
	}
	root, err := parse(data)
	if err != nil {
		b.problems = append(b.problems, syntaxProblem(real, err))
		return nil, nil
	}
	if opened.node, err = b.copy(root, 0); err != nil {
		return nil, fmt.Errorf("%s: %w", real, err)
	}
	return opened, nil
}

func (f *file) readable() *file {
	if f.node == nil && f.text == nil {
		return nil // which was reported
	}
	return f
}

func (b *bundler) report(f *file, at *yaml.Node, format string, args ...any) {
	p := Problem{File: f.path, Line: at.Line, Column: at.Column, Detail: fmt.Sprintf(format, args...)}
	if len(b.problems) < maxProblems && !slices.Contains(b.problems, p) {
		b.problems = append(b.problems, p)
	}
}
