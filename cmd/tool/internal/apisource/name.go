package apisource

import (
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
)

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
func (b *bundler) free(section []string, name string) string {
	key := strings.Join(section, "/")
	taken := b.names[key]
	if taken == nil {
		place := b.root.node
		for _, segment := range section {
			place = get(place, segment)
		}
		taken = map[string]bool{}
		for name := range members(place) {
			taken[name] = true
		}
		b.names[key] = taken
	}
	wish, n := name, max(1, b.last[key+"/"+name])
	for taken[name] {
		n++
		name = wish + "-" + strconv.Itoa(n)
	}
	b.last[key+"/"+wish], taken[name] = n, true
	return name
}
