package hubserver

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// substitute is the control character of that name. Like what it replaces, no name has it.
const substitute = "\x1a"

// storable returns s with substitutes for what no text in the database has: NUL, and bytes
// that are not UTF-8. A query with either fails, where nothing is to be found.
func storable(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, "\x00") {
		return s
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", substitute), substitute)
}

// storableQuery is storable for a query, or a form. A malformed one stays so.
func storableQuery(encoded string) string {
	if !strings.ContainsAny(encoded, "%\x00") && utf8.ValidString(encoded) {
		return encoded
	}
	parts := strings.Split(encoded, "&")
	for i, part := range parts {
		name, value, ok := strings.Cut(part, "=")
		if strings.Contains(part, ";") {
			continue // not a separator any more, and an error to url.ParseQuery
		}
		if plain, err := url.QueryUnescape(value); ok && err == nil && plain != storable(plain) {
			parts[i] = name + "=" + url.QueryEscape(storable(plain))
		}
	}
	return strings.Join(parts, "&")
}
