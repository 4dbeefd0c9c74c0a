package description

import (
	"regexp"

	"example.com/projecthub/hubclient/wire"
)

// version is the edition of OpenAPI that a description is written for.
type version string

const (
	v20 version = "2.0"
	v30 version = "3.0"
	v31 version = "3.1"
)

const accepted = `accepted are swagger: "2.0", openapi: "3.0.x" and openapi: "3.1.x"`

var patch3 = regexp.MustCompile(`^3\.[01](\.[0-9]{1,3})?$`)

// versionOf reads the version itself, because the library takes any for one that it knows.
func versionOf(root *node) (version, error) {
	swagger, openapi := root.member("swagger"), root.member("openapi")
	refuse := func(n *node, format string, args ...any) (version, error) {
		return "", &Invalid{[]wire.FieldError{n.reason(format+"; "+accepted, args...)}}
	}
	stated := openapi
	switch {
	case swagger != nil && openapi != nil:
		return refuse(root, "it has both swagger and openapi")
	case swagger != nil:
		stated = swagger
	case openapi == nil:
		return refuse(root, "it has neither openapi nor swagger, so it is not an API description")
	}
	switch {
	case stated.kind != text:
		return refuse(stated, "%s must be a string, not %v", stated.name, stated.kind)
	case stated == swagger && stated.text == "2.0":
		return v20, nil
	case stated == openapi && patch3.MatchString(stated.text):
		return version(stated.text[:len(v30)]), nil
	}
	return refuse(stated, "%s %s is not accepted", stated.name, quote(stated.text))
}
