package description

import (
	"errors"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/projecthub/hubclient/wire"
)

// sections are the members that have another name in the library, or another place in 2.0.
var sections = map[string][]string{
	"external docs":   {"externalDocs"},
	"schema":          {"schemas", "definitions"},
	"parameter":       {"parameters"},
	"request body":    {"requestBodies", "parameters"},
	"response":        {"responses"},
	"header":          {"headers"},
	"security scheme": {"securitySchemes", "securityDefinitions"},
	"example":         {"examples"},
	"link":            {"links"},
	"callback":        {"callbacks"},
}

// explain turns a validation error into a reason: its outer layers say where, and the
// innermost one what is wrong there.
func explain(root *node, err error) wire.FieldError {
	place := root
	for {
		switch e := err.(type) {
		case *openapi3.SectionValidationError:
			place = place.section(e.Section)
		case *openapi3.ComponentValidationError:
			place = place.section(e.Section).down(e.Name)
		case *openapi3.PathValidationError:
			place = place.down(e.Path)
		case *openapi3.WebhookValidationError:
			place = place.down(e.Name)
		case *openapi3.OperationValidationError:
			place = place.down(strings.ToLower(e.Method))
		case *openapi3.SchemaCombinatorElementValidationError:
		default:
			found, detail := narrow(root, place, err)
			return found.reason("%s", detail)
		}
		err = errors.Unwrap(err)
	}
}

func (n *node) section(name string) *node {
	for _, name := range append(sections[name], name) {
		if m := n.member(name); m != nil {
			return m
		}
	}
	return n
}

// narrow finds the value that err is about, which is place or below it, and puts err
// into words.
func narrow(root, place *node, err error) (found *node, detail string) {
	switch e := err.(type) {
	case *openapi3.RequiredFieldError:
		role, name, ok := strings.Cut(e.Field, ".")
		if !ok {
			found = place.below(e.Field, func(*node) bool { return true })
			break
		}
		found = place.find(func(n *node) bool { return n.role == role && n.lacks(name) })
		detail = quote(name) + " is missing or empty"
	case *openapi3.ExtraSiblingFieldsError:
		found = place.below(e.Fields[0], func(*node) bool { return true })
		detail = "unknown member " + quoteAll(e.Fields)
	case *openapi3.SchemaTypeError:
		found = place.below("type", func(n *node) bool { return n.says(e.Type) })
		detail = "unknown type " + quote(e.Type)
	case *openapi3.FieldVersionMismatchError:
		found = place.below(e.Field[strings.LastIndexByte(e.Field, '.')+1:], func(*node) bool { return true })
	case *openapi3.PathParametersError:
		found = place.down(e.Path, strings.ToLower(e.Method))
		detail = "undeclared or unused path parameters: " + quoteAll(e.Missing)
	case *openapi3.SecurityRequirementSchemeUndefinedError:
		found = root.down(segments(e.JSONPointer)...)
		detail = "unknown security scheme " + quote(e.Scheme)
	case *openapi3.PathMustStartWithSlashError:
		found = place.down(e.Path)
		detail = "a path starts with /"
	}
	if found == nil {
		found = place
	}
	if detail == "" {
		detail = clip(strings.ReplaceAll(err.Error(), "MUST", "must"), spoken)
	}
	return found, detail
}

// below returns the first wanted member with this name in or below n, of an object of
// the specification, or nil.
func (n *node) below(name string, wanted func(*node) bool) *node {
	holder := n.find(func(n *node) bool {
		m := n.member(name)
		return grammar[n.role] != nil && m != nil && wanted(m)
	})
	return holder.member(name)
}

// lacks reports whether a member that n needs is missing or empty. A schema needs items
// only if it is an array.
func (n *node) lacks(name string) bool {
	if n.isReference() || name == "items" && !n.member("type").says("array") {
		return false
	}
	m := n.member(name)
	return m == nil || m.kind == null || m.kind == text && m.text == "" && name != "description"
}

// says reports whether n is the string s, or an array that has it.
func (n *node) says(s string) bool {
	is := func(n *node) bool { return n.kind == text && n.text == s }
	return n != nil && (is(n) || slices.ContainsFunc(n.children, is))
}
