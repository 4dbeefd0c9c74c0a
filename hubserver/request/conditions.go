package request

import (
	"net/http"
	"slices"
	"strings"

	"example.com/projecthub/store"
)

// ETag writes a revision or a digest as a strong entity tag.
func ETag(revision string) string { return `"` + revision + `"` }

// tags returns what the entity tags of a header contain, and whether * is among them. A tag without
// quotes, or an empty one, is ignored, since the hub sends no such tag; so is a weak one, except in
// If-None-Match, which compares weakly (RFC 9110, 13.1.2).
func (c *Call) tags(name string) (list []string, star bool) {
	list = []string{}
	for tag := range strings.SplitSeq(strings.Join(c.R.Header[name], ","), ",") { // the hub's contain no comma
		tag = strings.TrimSpace(tag)
		star = star || tag == "*"
		if name == "If-None-Match" {
			tag = strings.TrimPrefix(tag, "W/")
		}
		if len(tag) > 2 && tag[0] == '"' && tag[len(tag)-1] == '"' {
			list = append(list, tag[1:len(tag)-1])
		}
	}
	return list, star
}

// Condition returns If-Match and If-None-Match.
func (c *Call) Condition() (cond store.Condition) {
	if _, cond.Exists = c.R.Header["If-Match"]; cond.Exists { // also where a tag is that of nothing
		if match, star := c.tags("If-Match"); !star {
			cond.Match = match
		}
	}
	cond.NoMatch, cond.New = c.tags("If-None-Match")
	return cond
}

// Unmodified sets the ETag of a GET, and reports whether it has responded: with 304 if the caller has
// that one already, with 412 if If-Match names others.
func (c *Call) Unmodified(revision string) bool { return c.UnmodifiedIn(revision, "") }

// UnmodifiedIn is [Call.Unmodified] for a resource with several encodings, each with its own ETag;
// without an encoding it is the revision. A caller that has the resource without encoding needs no
// other one.
func (c *Call) UnmodifiedIn(revision, encoding string) bool {
	sent := revision
	if encoding != "" {
		sent += "-" + encoding
	}
	cond := c.Condition()
	if cond.Match != nil && !slices.Contains(cond.Match, revision) && !slices.Contains(cond.Match, sent) {
		c.writeProblem(RevisionChanged("this is not the revision that If-Match names"))
		return true
	}
	has := cond.New || slices.Contains(cond.NoMatch, sent)
	if slices.Contains(cond.NoMatch, revision) {
		has, sent = true, revision
	}
	c.W.Header().Set("ETag", ETag(sent))
	if has {
		c.W.WriteHeader(http.StatusNotModified)
	}
	return has
}
