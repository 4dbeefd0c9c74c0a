package description

import (
	"net/url"
	"strings"
)

// Limits on what the library would need much memory or time for.
const (
	maxObjects   = 150_000 // of the specification's, references included
	maxVariables = 1_000   // of one server

	// The library reads each object once more for every object that it is in.
	maxObjectWork = 1_200_000 // the depths of all objects added up
)

// maxHops is how many references may refer to one another before a value.
const maxHops = 32

// checkShape assigns every node its role. It checks that values have the types that
// the grammar needs, and that every reference refers to a value of the right role
// within the description.
func checkShape(root *node, v version) (objects int, err error) {
	s := shaper{root: root, version: v}
	s.assign(root, "document")
	for _, name := range required(v) {
		if m := root.member(name); m == nil || m.kind == null {
			s.reasons.add(root, "%s is missing", name)
		}
	}
	for _, n := range s.references {
		if len(s.reasons) == MaxReasons {
			break
		}
		s.resolve(n)
	}
	return s.objects, s.reasons.err()
}

func required(v version) []string {
	if v == v31 {
		return []string{"info"}
	}
	return []string{"info", "paths"}
}

type shaper struct {
	root       *node
	version    version
	objects    int // visited so far
	depth      int // objects around the current one
	work       int // the sum of the depths of the objects visited so far
	references []*node
	reasons    reasons
}

// fill checks that n is what p needs, and assigns the roles.
func (s *shaper) fill(p place, n *node) {
	switch {
	case p.many == null:
		s.assign(n, p.role)
	case n.kind != p.many:
		s.reasons.add(n, "%s must be %v, not %v", label(n), p.many, n.shown())
	default:
		n.role = several
		for _, child := range n.children {
			s.assign(child, p.role)
		}
	}
}

func label(n *node) string {
	if n.name == "" {
		return "this"
	}
	return quote(n.name)
}

// assign gives n and the values in it their roles.
func (s *shaper) assign(n *node, role string) {
	if role == "discriminator" && s.version == v20 {
		role = "string"
	}
	if !s.fits(n, role) {
		s.reasons.add(n, "%s must be %s, not %v", label(n), words[role], n.shown())
		return
	}
	n.role = role
	if n.kind != object || grammar[role] == nil {
		return
	}
	s.count(n)
	if ref := n.member("$ref"); ref != nil && referable[role] {
		if ref.kind != text {
			s.reasons.add(ref, "$ref must be a string, not %v", ref.kind)
			return
		}
		s.references = append(s.references, n)
		if !hasSiblings(role, s.version) {
			return
		}
	}
	s.depth++
	defer func() { s.depth-- }()
	for _, child := range n.children {
		s.member(n, child)
	}
}

func (s *shaper) member(n, child *node) {
	p, listed := grammar[n.role][child.name]
	others := grammar[n.role]["*"]
	switch {
	case listed && child.kind == null && p.role != data: // the same as absent
	case listed:
		s.fill(p, child)
	case strings.HasPrefix(child.name, "x-"):
	case others != place{}:
		s.fill(others, child)
	case child.name == "$ref" && n.isReference():
	case n.role == "schema" && s.version == v31: // other keywords are allowed there
	default:
		s.reasons.add(child, "unknown member %s", quote(child.name))
	}
}

// count counts n against the limits.
func (s *shaper) count(n *node) {
	before := s.work
	if s.work += s.depth; before <= maxObjectWork && s.work > maxObjectWork {
		s.reasons.add(n, "the description has too many deeply nested schemas, operations, parameters and other objects")
	}
	s.objects++
	if s.objects == maxObjects+1 {
		s.reasons.add(n, "the description has more than %d schemas, operations, parameters and other objects", maxObjects)
	}
	if variables := n.member("variables"); n.role == "server" && variables != nil && len(variables.children) > maxVariables {
		s.reasons.add(variables, "a server has at most %d variables here", maxVariables)
	}
}

func (s *shaper) fits(n *node, role string) bool {
	if fits, ok := leaves[role]; ok {
		return fits(n)
	}
	if role == "schema" && n.kind == boolean {
		return s.version == v31 || n.name == "additionalProperties"
	}
	return n.kind == object
}

// what describes n in words.
func (n *node) what() string {
	if n.role == "" {
		return n.kind.String()
	}
	return words[n.role]
}

// hasSiblings reports whether the other members of a reference count; otherwise they are ignored.
func hasSiblings(role string, v version) bool { return role == "schema" && v == v31 }

// isReference reports whether n is a reference that [shaper.assign] has found.
func (n *node) isReference() bool {
	ref := n.member("$ref")
	return referable[n.role] && ref != nil && ref.kind == text
}

// resolve sets the target of the reference n.
func (s *shaper) resolve(n *node) {
	ref := n.member("$ref")
	target := n
	for range maxHops {
		next, problem := s.lookup(target.member("$ref").text)
		switch {
		case problem != "":
			s.reasons.add(ref, "%s %s", quote(ref.text), problem)
			return
		case next.role != n.role && (next.role != "" || next.kind != object):
			s.reasons.add(ref, "%s refers to %s, but %s is needed", quote(ref.text), next.what(), words[n.role])
			return
		case !next.isReference():
			n.target = next
			return
		}
		target = next
	}
	s.reasons.add(ref, "%s refers to itself, or to more than %d references in a row", quote(ref.text), maxHops)
}

// lookup returns the value that ref refers to, or what is wrong with ref.
func (s *shaper) lookup(ref string) (target *node, problem string) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local && ref != "" {
		return nil, "refers to another document, which the hub does not read: include it in the description"
	}
	pointer, err := url.PathUnescape(pointer)
	if !local || err != nil || pointer != "" && pointer[0] != '/' {
		return nil, "is not of the form #/…"
	}
	target = s.root
	for _, segment := range segments(pointer) {
		if target = target.step(segment); target == nil {
			return nil, "does not exist"
		}
	}
	return target, ""
}
