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

// maxHops is how many references may lead from one to the next before a value comes.
const maxHops = 32

// checkShape gives every node its role, and checks that objects and arrays stand
// where the grammar wants them and that every reference leads, within the
// description, to a value of the role that is needed.
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
	objects    int // met so far
	depth      int // of objects around the one that is looked at
	work       int // the depths of the objects met so far
	references []*node
	reasons    reasons
}

// fill checks that what p wants stands as n, and assigns the roles.
func (s *shaper) fill(p place, n *node) {
	switch {
	case p.many == null:
		s.assign(n, p.role)
	case n.kind != p.many:
		s.reasons.add(n, "%s is %v, where %v is needed", label(n), n.shown(), p.many)
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

// assign gives n and what it holds their roles.
func (s *shaper) assign(n *node, role string) {
	if role == "discriminator" && s.version == v20 {
		role = "string"
	}
	if !s.fits(n, role) {
		s.reasons.add(n, "%s is %v, where %s is needed", label(n), n.shown(), words[role])
		return
	}
	n.role = role
	if n.kind != object || grammar[role] == nil {
		return
	}
	s.count(n)
	if ref := n.member("$ref"); ref != nil && referable[role] {
		if ref.kind != text {
			s.reasons.add(ref, "$ref is %v, where a string is needed", ref.kind)
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
	case listed && child.kind == null && p.role != data: // as if it were absent
	case listed:
		s.fill(p, child)
	case strings.HasPrefix(child.name, "x-"):
	case others != place{}:
		s.fill(others, child)
	case child.name == "$ref" && n.isReference():
	case n.role == "schema" && s.version == v31: // keywords are anyone's there
	default:
		s.reasons.add(child, "OpenAPI does not know the member %s", quote(child.name))
	}
}

// count counts n against the limits.
func (s *shaper) count(n *node) {
	before := s.work
	if s.work += s.depth; before <= maxObjectWork && s.work > maxObjectWork {
		s.reasons.add(n, "the description has too many schemas, operations, parameters and the like that are nested deeply")
	}
	s.objects++
	if s.objects == maxObjects+1 {
		s.reasons.add(n, "the description has more than %d schemas, operations, parameters and the like", maxObjects)
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

// what says what n is, in words.
func (n *node) what() string {
	if n.role == "" {
		return n.kind.String()
	}
	return words[n.role]
}

// hasSiblings reports whether members beside $ref count; elsewhere they are ignored.
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
			s.reasons.add(ref, "%s leads to %s, where %s is needed", quote(ref.text), next.what(), words[n.role])
			return
		case !next.isReference():
			n.target = next
			return
		}
		target = next
	}
	s.reasons.add(ref, "%s leads from reference to reference and never, or only after %d of them, to a value", quote(ref.text), maxHops)
}

// lookup returns what ref leads to, or what is wrong with it.
func (s *shaper) lookup(ref string) (target *node, problem string) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local && ref != "" {
		return nil, "leads outside the description, where the hub does not look: put what it names into the description"
	}
	pointer, err := url.PathUnescape(pointer)
	if !local || err != nil || pointer != "" && pointer[0] != '/' {
		return nil, "is not of the form #/…"
	}
	target = s.root
	for _, segment := range segments(pointer) {
		if target = target.step(segment); target == nil {
			return nil, "leads to nothing"
		}
	}
	return target, ""
}
