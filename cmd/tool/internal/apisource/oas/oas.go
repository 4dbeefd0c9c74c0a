// Package oas knows the objects of the OpenAPI specification: which members each has in
// the versions 2.0, 3.0, 3.1 and 3.2, and of which type.
//
// It knows no files and no documents: the programs that read descriptions walk them by it.
package oas

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// Version is an edition of OpenAPI.
type Version int

// The editions, oldest first.
const (
	V20 Version = iota
	V30
	V31
	V32
)

var versionNames = []string{"2.0", "3.0", "3.1", "3.2"}

// Kind is what a value has to be.
type Kind int

// The kinds of a value.
const (
	Any    Kind = iota // data, which OpenAPI does not describe
	String             // a string
	Bool               // a boolean
	Number             // a number
	Count              // a whole number of 0 or more
	Types              // the name of a type; since 3.1 also several
	Object             // an object of the specification
	Array              // an array of values of one type
	Map                // an object whose members, with any names, have one type
)

// Type is the type of a value.
type Type struct {
	Kind   Kind
	Object *Def  // of an Object
	Of     *Type // of an Array or a Map
}

// Member is a member of an object.
type Member struct {
	Type        *Type
	First, Last Version
}

// In reports whether v has the member.
func (m *Member) In(v Version) bool { return m.First <= v && v <= m.Last }

// Def is an object of the specification.
type Def struct {
	Name string
	Ref  bool  // a reference can replace it
	Rest *Type // of members with other names; nil for none

	members map[string][]*Member
}

// Member returns the member of an object in a version, or nil.
func (o *Def) Member(name string, v Version) *Member {
	for _, m := range o.members[name] {
		if m.In(v) {
			return m
		}
	}
	return nil
}

// First returns the first version with a member, and whether there is any.
func (o *Def) First(name string) (Version, bool) {
	if all := o.members[name]; len(all) > 0 {
		return all[0].First, true
	}
	return 0, false
}

// RefIn reports whether a reference can replace the object in a version.
func (o *Def) RefIn(v Version) bool {
	switch o.Name {
	case "mediaType":
		return v >= V32
	case "header", "securityScheme":
		return v >= V30
	}
	return o.Ref
}

// Document returns the type of a whole description.
func Document() *Type { return all()["document"] }

// Lookup returns the object with this name, which exists.
func Lookup(name string) *Def { return all()[name].Object }

//go:embed objects.txt
var text string

// all reads the table when it is needed first: most commands never do.
var all = sync.OnceValue(func() map[string]*Type { return read(text) })

func read(text string) map[string]*Type {
	r := reader{}
	for name, kind := range map[string]Kind{"any": Any, "string": String, "bool": Bool, "number": Number, "count": Count, "types": Types} {
		r[name] = &Type{Kind: kind}
	}
	var object *Def
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case line[0] != ' ':
			object = r.object(words[0])
			for _, word := range words[1:] {
				object.Ref = object.Ref || word == "ref"
			}
		case words[0] == "*":
			object.Rest = r.typeOf(words[1])
		default:
			object.add(r, words)
		}
	}
	return r
}

// reader holds the types by their names.
type reader map[string]*Type

func (r reader) object(name string) *Def { return r.typeOf(name).Object }

func (r reader) typeOf(name string) *Type {
	if t := r[name]; t != nil {
		return t
	}
	t := &Type{}
	r[name] = t
	switch {
	case strings.HasPrefix(name, "[]"):
		t.Kind, t.Of = Array, r.typeOf(name[len("[]"):])
	case strings.HasPrefix(name, "{}"):
		t.Kind, t.Of = Map, r.typeOf(name[len("{}"):])
	case name == "closed": // additionalProperties
		*t = Type{Kind: Object, Object: r.object("schema")}
	default:
		t.Kind, t.Object = Object, &Def{Name: name, members: map[string][]*Member{}}
	}
	return t
}

func (o *Def) add(r reader, words []string) {
	name := strings.TrimSuffix(words[0], "!")
	m := &Member{Type: r.typeOf(words[1]), First: V20, Last: V32}
	if len(words) > 2 {
		m.First, m.Last = versions(words[2])
	}
	o.members[name] = append(o.members[name], m)
}

func versions(s string) (first, last Version) {
	name := strings.TrimRight(s, "+-")
	for v, known := range versionNames {
		switch {
		case known != name:
		case strings.HasSuffix(s, "+"):
			return Version(v), V32
		case strings.HasSuffix(s, "-"):
			return V20, Version(v)
		default:
			return Version(v), Version(v)
		}
	}
	panic(fmt.Sprintf("objects.txt: the version %q is unknown", s))
}
