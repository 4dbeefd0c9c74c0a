package apisource

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// bundler moves what other files define into the document. What can be a component becomes
// one; the rest takes the place of the reference to it.
type bundler struct {
	read     ReadFile
	root     *file
	sections map[string][]string // where the document keeps what is referred to, by the names of the objects
	anchors  bool                // a fragment can be an anchor
	files    map[string]*file    // by path, as written and as resolved; nil: the file cannot be read
	order    []string            // resolved paths of the files that were read, the description first
	bytes    int                 // of all files that were read
	left     int                 // values that can still be copied
	problems []Problem
	changed  bool  // the document differs from its file
	err      error // the first limit that was exceeded: nothing is done after it

	homes map[*yaml.Node]string // where a value of another file is in the document
	from  map[*yaml.Node]*file  // the files of values that were moved
	open  map[*yaml.Node]bool   // values that are being put in the place of references
	moved []component

	taken   map[string]int                       // by pointers of components: the number of the last name like it
	indexes map[*yaml.Node]map[string]*yaml.Node // of mappings in which references lead
}

type component struct {
	typ   string // such as "schema"
	name  string // unique among the components of its type
	value *yaml.Node
}

func (b *bundler) bundle() {
	b.learnVersion()
	b.components()
	b.visit(b.root.node, "document", b.root, "", 0)
	for i := 0; i < len(b.moved); i++ { // visiting one can move more
		m := b.moved[i]
		b.visit(m.value, m.typ, b.root, b.section(m.typ)+m.name, 0)
	}
	for _, m := range b.moved {
		place := b.root.node
		for _, name := range b.sections[m.typ] {
			place = child(place, name)
		}
		add(place, m.name, m.value) // no other component has this name
	}
}

func (b *bundler) fail(f *file, err error) {
	if b.err == nil {
		b.err = fmt.Errorf("%s: %w", f.path, err)
	}
}

// section returns the pointer of the components of a type, with a slash at its end.
func (b *bundler) section(t string) string { return "/" + strings.Join(b.sections[t], "/") + "/" }

// learnVersion sets what differs between the versions of OpenAPI.
func (b *bundler) learnVersion() {
	if get(b.root.node, "swagger") != nil {
		b.sections = map[string][]string{
			"schema": {"definitions"}, "parameter": {"parameters"}, "response": {"responses"},
		}
		return
	}
	stated := get(b.root.node, "openapi")
	b.anchors = stated == nil || !strings.HasPrefix(stated.Value, "3.0")
	b.sections = map[string][]string{}
	for name, section := range map[string]string{
		"schema": "schemas", "response": "responses", "parameter": "parameters", "example": "examples",
		"requestBody": "requestBodies", "header": "headers", "securityScheme": "securitySchemes", "link": "links",
		"callback": "callbacks",
	} {
		b.sections[name] = []string{"components", section}
	}
}

// components gives what the document's components refer to its place there, so that other
// references lead to it.
func (b *bundler) components() {
	for _, name := range slices.Sorted(maps.Keys(b.sections)) {
		place, f := b.root.node, b.root
		for _, segment := range b.sections[name] {
			if place = get(place, segment); place == nil {
				break
			}
			f = b.inlineWhole(place, f)
		}
		for i := 0; place != nil && place.Kind == yaml.MappingNode && i+1 < len(place.Content); i += 2 {
			entry, home := place.Content[i+1], b.section(name)+escape(place.Content[i].Value)
			b.taken[home] = 1
			target, from := b.find(refOf(entry), b.fileOf(entry, f))
			if target != nil && from != b.root && b.homes[target] == "" {
				b.homes[target] = "#" + home
				b.replace(entry, target, from)
			}
		}
	}
}

// inlineWhole replaces n if it refers to another file, and returns the file of what is there then.
func (b *bundler) inlineWhole(n *yaml.Node, f *file) *file {
	f = b.fileOf(n, f)
	target, from := b.find(refOf(n), f)
	if target == nil || from == b.root {
		return f
	}
	b.replace(n, target, from)
	return from
}

// fileOf returns the file that n is from, which is in f.
func (b *bundler) fileOf(n *yaml.Node, f *file) *file {
	return cmp.Or(b.from[n], f)
}

// replace puts a copy of target in the place of n. Members next to $ref stay.
func (b *bundler) replace(n, target *yaml.Node, from *file) {
	moved := b.copyOf(target, from)
	b.changed = true
	own := n.Content
	comment := n.HeadComment
	*n = *moved
	n.HeadComment = cmp.Or(n.HeadComment, comment)
	delete(b.indexes, n)
	has := index(n)
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(own); i += 2 {
		if own[i].Value != "$ref" && has[own[i].Value] == nil {
			n.Content = append(n.Content, own[i], own[i+1])
			b.from[own[i+1]] = b.root
		}
	}
	b.from[n] = from
}

// visit follows the references in n, which is a t at this pointer of the document.
func (b *bundler) visit(n *yaml.Node, t string, f *file, pointer string, depth int) {
	f = b.fileOf(n, f)
	if b.err != nil || t == data || n.Kind == yaml.ScalarNode {
		return
	}
	if depth > maxDepth {
		b.fail(f, fmt.Errorf("values are nested more than %d deep, or refer to themselves", maxDepth))
		return
	}
	if ref := refOf(n); ref != nil && b.reference(n, ref, t, f, pointer, depth) {
		return
	}
	switch {
	case n.Kind == yaml.SequenceNode && strings.HasPrefix(t, "[]"):
		for i, element := range n.Content {
			b.visit(element, memberType(t, ""), f, pointer+"/"+strconv.Itoa(i), depth+1)
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i].Value, n.Content[i+1]
			if t == "discriminator" && name == "mapping" {
				b.mapping(value, f)
				continue
			}
			of := memberType(t, name)
			if n.Content[i].Tag == "!!merge" {
				of = t
			}
			b.visit(value, of, f, pointer+"/"+escape(name), depth+1)
		}
	}
}

// refOf returns the reference that n is, or nil.
func refOf(n *yaml.Node) *yaml.Node {
	if ref := get(n, "$ref"); ref != nil && ref.Kind == yaml.ScalarNode && ref.Tag == "!!str" {
		return ref
	}
	return nil
}

// reference follows a reference n, and reports whether nothing else is to be visited in n.
func (b *bundler) reference(n, ref *yaml.Node, t string, f *file, pointer string, depth int) (done bool) {
	target, from := b.find(ref, f)
	switch {
	case target == nil:
		return !isObject(t)
	case from == b.root:
		b.point(ref, fragmentOf(ref))
	case b.homes[target] != "" && isObject(t):
		b.point(ref, b.homes[target])
	case b.sections[t] != nil:
		b.move(ref, target, from, t)
	case b.open[target]:
		b.report(f, ref, "%q contains itself", ref.Value)
		return true
	default:
		b.open[target] = true
		defer delete(b.open, target)
		if t == "pathItem" {
			b.homes[target] = "#" + pointer
		}
		b.replace(n, target, from)
		b.visit(n, t, from, pointer, depth+1)
		return true
	}
	return false
}

func fragmentOf(ref *yaml.Node) string {
	_, fragment, _ := strings.Cut(ref.Value, "#")
	return "#" + fragment
}

func (b *bundler) point(ref *yaml.Node, value string) {
	if ref.Value != value {
		ref.Value, b.changed = value, true
	}
}

// move makes target a component, and ref lead to it.
func (b *bundler) move(ref, target *yaml.Node, from *file, t string) {
	moved := b.copyOf(target, from)
	b.from[moved] = from
	name := b.free(b.section(t), nameFor(ref.Value, from))
	b.homes[target] = "#" + b.section(t) + name
	b.moved = append(b.moved, component{typ: t, name: name, value: moved})
	b.point(ref, b.homes[target])
}

// mapping follows the files in the mapping of a discriminator. Its values can also be
// names of schemas, so that only a file that exists is followed.
func (b *bundler) mapping(n *yaml.Node, f *file) {
	for i := 1; i < len(n.Content); i += 2 {
		value := n.Content[i]
		ofRoot := b.fileOf(n, f) == b.root && strings.HasPrefix(value.Value, "#")
		if value.Kind != yaml.ScalarNode || !strings.ContainsAny(value.Value, "./#") || ofRoot {
			continue
		}
		problems := len(b.problems)
		target, from := b.find(value, f)
		if target == nil && !strings.ContainsAny(value.Value, "/#") {
			b.problems = b.problems[:problems]
		}
		if target == nil {
			continue
		}
		switch {
		case b.homes[target] != "":
			b.point(value, b.homes[target])
		case from == b.root:
			b.point(value, fragmentOf(value))
		default:
			b.move(value, target, from, "schema")
		}
	}
}

var notName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// nameFor derives the name of a component from the reference to it.
func nameFor(ref string, from *file) string {
	_, fragment, _ := strings.Cut(ref, "#")
	name := strings.TrimSuffix(path.Base(from.path), path.Ext(from.path))
	if parts := strings.Split(strings.Trim(fragment, "/"), "/"); parts[len(parts)-1] != "" {
		name = unescape(parts[len(parts)-1])
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
	}
	if name = strings.Trim(notName.ReplaceAllString(name, "-"), "-"); name == "" {
		return "value"
	}
	return name
}

// free returns a name that no component of the section has, and takes it.
func (b *bundler) free(section, wish string) string {
	name, n := wish, b.taken[section+wish]
	for b.taken[section+name] > 0 {
		n++
		name = wish + "-" + strconv.Itoa(n)
	}
	b.taken[section+name] = 1
	b.taken[section+wish] = max(1, n)
	return name
}

//go:embed objects.txt
var table string

// data is the type of what OpenAPI does not describe.
const data = ""

// objects has the types of the members of each object. It is read when it is needed first.
var objects = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	object := ""
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case line[0] != ' ':
			object = words[0]
			all[object] = map[string]string{}
		default:
			for _, name := range words[1:] {
				all[object][name] = words[0]
			}
		}
	}
	return all
})

func isObject(t string) bool { return objects()[t] != nil }

// memberType returns the type of a member of a value of type t, or of an element.
func memberType(t, name string) string {
	for _, many := range []string{"[]", "{}"} {
		if of, ok := strings.CutPrefix(t, many); ok {
			return strings.TrimPrefix(of, "any")
		}
	}
	members := objects()[t]
	if of, known := members[name]; known || strings.HasPrefix(name, "x-") {
		return of
	}
	return members["*"]
}
