package description

import (
	"slices"
	"strings"

	"example.com/projecthub/hubclient/oas"
)

// checkPaths checks paths and their operations, which needs what references refer to.
func (c *checker) checkPaths() {
	paths := c.root.member("paths")
	if paths == nil || paths.kind != object || paths.is == nil {
		return
	}
	templates := make(map[string]string, len(paths.children))
	for _, item := range paths.children {
		if c.visited++; c.visited%growStep == 0 && c.step() != nil {
			return
		}
		if strings.HasPrefix(item.name, "x-") || item.kind != object {
			continue
		}
		if !strings.HasPrefix(item.name, "/") {
			c.found.add(item, pathSlash)
		}
		plain := variable.ReplaceAllString(item.name, "{}")
		if first, taken := templates[plain]; taken {
			c.found.add(item, pathTwice, quote(first))
		} else {
			templates[plain] = item.name
		}
		if item.member("$ref") == nil {
			c.checkItem(item)
		}
	}
}

// checkItem checks the parameters of a path's operations.
func (c *checker) checkItem(item *node) {
	path, _, _ := strings.Cut(item.name, "?") // a query is not allowed, but common
	needed, allowed := variables(path), variables(item.name)
	common, known := c.parameters(item.member("parameters"))
	for _, operation := range item.children {
		if o := oas.Lookup("pathItem").Member(operation.name, c.version); o == nil || o.Type.Object == nil || o.Type.Object.Name != "operation" || operation.kind != object {
			continue
		}
		own, all := c.parameters(operation.member("parameters"))
		if c.version == oas.V20 {
			c.checkBodies(operation, slices.Concat(common, own))
		}
		if known && all {
			c.checkTemplate(operation, needed, allowed, slices.Concat(common, own))
		}
	}
}

// variables returns the names in braces.
func variables(template string) []string {
	var names []string
	for _, match := range variable.FindAllStringSubmatch(template, -1) {
		names = append(names, match[1])
	}
	return names
}

// parameter is one of an operation.
type parameter struct{ name, in string }

// parameters returns the parameters of a list, and whether all are known.
func (c *checker) parameters(list *node) (found []parameter, known bool) {
	if list == nil || list.kind != array {
		return nil, true
	}
	known = true
	seen := map[string]bool{}
	for _, n := range list.children {
		end := n.end()
		name, in := end.member("name"), end.member("in")
		if name == nil || in == nil {
			known = false
			continue
		}
		if key := keyOf(in.text, name.text); seen[key] {
			c.found.add(n, parameterTwice, quote(name.text), quote(in.text))
		} else {
			seen[key] = true
		}
		found = append(found, parameter{name.text, in.text})
	}
	return found, known
}

func (c *checker) checkBodies(operation *node, all []parameter) {
	bodies, forms := 0, 0
	for _, p := range all {
		switch p.in {
		case "body":
			bodies++
		case "formData":
			forms = 1
		}
	}
	if bodies+forms > 1 {
		c.found.add(operation, twoBodies)
	}
}

// checkTemplate compares the parameters of an operation with those in its path.
func (c *checker) checkTemplate(operation *node, needed, allowed []string, all []parameter) {
	var wrong []string
	declared := map[string]bool{}
	for _, p := range all {
		if p.in == "path" && !declared[p.name] {
			declared[p.name] = true
			if !slices.Contains(allowed, p.name) {
				wrong = append(wrong, p.name)
			}
		}
	}
	for _, name := range needed {
		if !declared[name] {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) > 0 {
		c.found.add(operation, pathParameters, quoteAll(wrong))
	}
}
