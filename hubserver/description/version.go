package description

import (
	"regexp"
	"strconv"

	"example.com/projecthub/hubclient/oas"
	"example.com/projecthub/hubclient/wire"
)

var release = regexp.MustCompile(`^([0-9]{1,3})\.([0-9]{1,3})(\.[0-9]{1,3})?(-[-.0-9A-Za-z]{1,40})?$`)

// readVersion returns the edition that a description is checked by.
func (c *checker) readVersion() error {
	swagger, openapi := c.root.member("swagger"), c.root.member("openapi")
	stated := openapi
	switch {
	case swagger == nil && openapi == nil:
		return &Invalid{[]wire.FieldError{c.root.reason("it has neither openapi nor swagger, so it is not an API description")}}
	case openapi == nil:
		stated = swagger
	}
	c.version = editionOf(stated)
	if swagger != nil && openapi != nil {
		c.found.add(c.root, twoVersions, c.version)
	}
	if stated.kind != text {
		c.found.add(stated, versionType, stated.name, stated.shown())
		return nil
	}
	parts := release.FindStringSubmatch(stated.text)
	newer := parts != nil && stated == openapi && parts[1] == "3" && len(parts[2]) > 0 && number3(parts[2]) > 2
	switch {
	case newer:
		c.found.add(stated, newerVersion, clip(stated.text, quoted))
	case parts == nil || parts[4] != "" || parts[1]+"."+parts[2] != c.version.String() || (stated == swagger) != (c.version == oas.V20) || stated == swagger && stated.text != "2.0":
		c.found.add(stated, malformedVersion, quote(stated.text), c.version)
	}
	return nil
}

func number3(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// editionOf returns the edition that is the most like the version that n states.
func editionOf(n *node) oas.Version {
	parts := regexp.MustCompile(`^(\d{1,3})(?:\.(\d{1,3}))?`).FindStringSubmatch(n.text)
	switch {
	case n.name == "swagger":
		return oas.V20
	case parts == nil || parts[1] == "3" && parts[2] == "":
		return oas.V30
	case parts[1] == "1", parts[1] == "2":
		return oas.V20
	case parts[1] == "3" && parts[2] == "0":
		return oas.V30
	case parts[1] == "3" && parts[2] == "1":
		return oas.V31
	}
	return oas.V32
}
