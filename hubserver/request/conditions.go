package request

import (
	"net/http"
	"slices"
	"strings"

	"example.com/projecthub/store"
)

// ETag returns the strong entity tag of a revision or a digest.
func ETag(revision string) string { return `"` + revision + `"` }

// tags returns the entity tags of a header without their quotes, and whether * is among them. A tag without
// quotes, or an empty one, is ignored, because the hub sends no such tag; so is a weak one, except in
// If-None-Match, which compares weakly (RFC 9110, 13.1.2).
func (c *Call) tags(name string) (list []string, star bool) {
	list = []string{}
	for tag := range strings.SplitSeq(strings.Join(c.R.Header[name], ","), ",") { // the hub's tags contain no comma
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

// Condition returns the request's If-Match and If-None-Match as a condition of the store.
func (c *Call) Condition() (cond store.Condition) {
	if _, cond.Exists = c.R.Header["If-Match"]; cond.Exists { // also if none of its tags is valid
		if match, star := c.tags("If-Match"); !star {
			cond.Match = match
		}
	}
	cond.NoMatch, cond.New = c.tags("If-None-Match")
	return cond
}

// Unmodified sets the ETag of a GET, and reports whether it has responded: with 304 if the caller has
// that revision already, with 412 if If-Match names only others.
func (c *Call) Unmodified(revision string) bool { return c.UnmodifiedIn(revision, "") }

// UnmodifiedIn is [Call.Unmodified] for a response in an encoding, which is a part of its ETag; with the
// encoding "" the ETag is the revision. A caller that has the resource without an encoding also gets a 304.
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
