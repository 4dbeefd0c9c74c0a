package apisource

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed objects.txt
var table string

// data is the type of what OpenAPI does not describe.
const data = ""

// objects has the types of the members of each object, by their names. It is read when it is
// needed first: most commands never do.
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
