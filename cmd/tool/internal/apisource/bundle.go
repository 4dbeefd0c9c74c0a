package apisource

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// bundler moves what other files define into the document. What can be a component becomes
// one; the rest takes the place of the reference to it.
type bundler struct {
	read     ReadFile
	root     *file
	sections map[string][]string // where the document keeps what is referred to, by the names of the objects
	anchors  bool                // a fragment can be an anchor
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

	taken   map[string]int                       // by pointers of components: the number of the last name like it
	indexes map[*yaml.Node]map[string]*yaml.Node // of mappings in which references lead
}

// component is a value that becomes a component of the document.
type component struct {
	is, name string // its type, and its name among those of the type
	value    *yaml.Node
}

func (b *bundler) bundle() error {
	b.learnVersion()
	if err := b.components(); err != nil {
		return err
	}
	if err := b.visit(b.root.node, "document", b.root, "", 0); err != nil {
		return err
	}
	for i := 0; i < len(b.moved); i++ { // visiting one can move more
		m := b.moved[i]
		if err := b.visit(m.value, m.is, b.root, b.section(m.is)+m.name, 0); err != nil {
			return err
		}
	}
	for _, m := range b.moved {
		place := b.root.node
		for _, name := range b.sections[m.is] {
			place = child(place, name)
		}
		add(place, m.name, m.value) // which no other component has as its name
	}
	return nil
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
func (b *bundler) components() error {
	for _, name := range slices.Sorted(maps.Keys(b.sections)) {
		place, f := b.root.node, b.root
		for _, segment := range b.sections[name] {
			if place = get(place, segment); place == nil {
				break
			}
			var err error
			if f, err = b.inlineWhole(place, f); err != nil {
				return err
			}
		}
		for i := 0; place != nil && place.Kind == yaml.MappingNode && i+1 < len(place.Content); i += 2 {
			entry, home := place.Content[i+1], b.section(name)+escape(place.Content[i].Value)
			b.taken[home] = 1
			target, from, err := b.find(refOf(entry), b.fileOf(entry, f))
			if err != nil {
				return err
			}
			if target == nil || from == b.root || b.homes[target] != "" {
				continue
			}
			b.homes[target] = "#" + home
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
	target, from, err := b.find(refOf(n), f)
	if err != nil || target == nil || from == b.root {
		return f, err
	}
	return from, b.replace(n, target, from)
}

// fileOf returns the file that n is from, which is in f.
func (b *bundler) fileOf(n *yaml.Node, f *file) *file {
	return cmp.Or(b.from[n], f)
}

// replace puts a copy of target in the place of n. Members next to $ref stay.
func (b *bundler) replace(n, target *yaml.Node, from *file) error {
	moved, err := b.copy(target, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", from.path, err)
	}
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
	return nil
}

// visit follows the references in n, which is a t at this pointer of the document.
func (b *bundler) visit(n *yaml.Node, t string, f *file, pointer string, depth int) error {
	f = b.fileOf(n, f)
	if t == data || n.Kind == yaml.ScalarNode {
		return nil
	}
	if depth > maxDepth {
		return fmt.Errorf("%s: values are nested more than %d deep, or refer to themselves", f.path, maxDepth)
	}
	if ref := refOf(n); ref != nil {
		done, err := b.reference(n, ref, t, f, pointer, depth)
		if done || err != nil {
			return err
		}
	}
	switch {
	case n.Kind == yaml.SequenceNode && strings.HasPrefix(t, "[]"):
		for i, element := range n.Content {
			if err := b.visit(element, memberType(t, ""), f, pointer+"/"+strconv.Itoa(i), depth+1); err != nil {
				return err
			}
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i].Value, n.Content[i+1]
			if t == "discriminator" && name == "mapping" {
				if err := b.mapping(value, f); err != nil {
					return err
				}
				continue
			}
			of := memberType(t, name)
			if n.Content[i].Tag == "!!merge" {
				of = t
			}
			if err := b.visit(value, of, f, pointer+"/"+escape(name), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// refOf returns the reference that n is, or nil.
func refOf(n *yaml.Node) *yaml.Node {
	if ref := get(n, "$ref"); ref != nil && ref.Kind == yaml.ScalarNode && ref.Tag == "!!str" {
		return ref
	}
	return nil
}

// reference follows a reference n, and reports whether nothing else is to be visited in n.
func (b *bundler) reference(n, ref *yaml.Node, t string, f *file, pointer string, depth int) (done bool, err error) {
	target, from, err := b.find(ref, f)
	if err != nil || target == nil {
		return !isObject(t), err
	}
	if from == b.root {
		b.point(ref, fragmentOf(ref))
		return false, nil
	}
	if home := b.homes[target]; home != "" && isObject(t) {
		b.point(ref, home)
		return false, nil
	}
	if b.sections[t] != nil {
		return false, b.move(ref, target, from, t)
	}
	if b.open[target] {
		b.report(f, ref, "%q contains itself", ref.Value)
		return true, nil
	}
	b.open[target] = true
	defer delete(b.open, target)
	if t == "pathItem" {
		b.homes[target] = "#" + pointer
	}
	if err := b.replace(n, target, from); err != nil {
		return true, err
	}
	return true, b.visit(n, t, from, pointer, depth+1)
}

// fragmentOf returns a reference without its file.
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
func (b *bundler) move(ref, target *yaml.Node, from *file, t string) error {
	moved, err := b.copy(target, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", from.path, err)
	}
	b.from[moved] = from
	name := b.free(b.section(t), nameFor(ref.Value, from))
	b.homes[target] = "#" + b.section(t) + name
	b.moved = append(b.moved, component{t, name, moved})
	b.point(ref, b.homes[target])
	return nil
}

// mapping follows the files in the mapping of a discriminator. Its values can also be
// names of schemas, so that only a file that exists is followed.
func (b *bundler) mapping(n *yaml.Node, f *file) error {
	for i := 1; i < len(n.Content); i += 2 {
		value := n.Content[i]
		ofRoot := b.fileOf(n, f) == b.root && strings.HasPrefix(value.Value, "#")
		if value.Kind != yaml.ScalarNode || !strings.ContainsAny(value.Value, "./#") || ofRoot {
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
			b.point(value, fragmentOf(value))
		default:
			if err := b.move(value, target, from, "schema"); err != nil {
				return err
			}
		}
	}
	return nil
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
