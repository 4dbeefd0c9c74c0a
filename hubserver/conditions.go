package hubserver

import (
	"net/http"
	"slices"
	"strings"
)

// etag writes a revision or a digest as a strong entity tag.
func etag(revision string) string { return `"` + revision + `"` }

// tags splits a list of entity tags. Ours hold neither comma nor quote.
func tags(header []string) []string {
	var all []string
	for _, line := range header {
		for tag := range strings.SplitSeq(line, ",") {
			if tag = strings.TrimSpace(tag); tag != "" {
				all = append(all, tag)
			}
		}
	}
	return all
}

// matches reports whether the request's If-Match, if there is one, allows a
// write onto what is there with this revision. A weak tag never does.
func (c *call) matches(revision string, there bool) bool {
	header, conditional := c.r.Header["If-Match"]
	if !conditional {
		return true
	}
	asked := tags(header)
	return there && (slices.Contains(asked, "*") || slices.Contains(asked, etag(revision)))
}

// excludes reports whether the request's If-None-Match forbids a write: * where
// something is there, a tag where it is that of revision.
func (c *call) excludes(revision string, there bool) bool {
	asked := tags(c.r.Header["If-None-Match"])
	return there && slices.Contains(asked, "*") || slices.Contains(asked, etag(revision))
}

// seeds reports whether the request may only put something where nothing is.
func (c *call) seeds() bool {
	return slices.Contains(tags(c.r.Header["If-None-Match"]), "*")
}

// unmodifiedIn is unmodified for a resource with several encodings, each of which
// has an ETag of its own; that without an encoding has the revision alone. A caller
// that has that one may use it whatever it accepts.
func (c *call) unmodifiedIn(revision, encoding string) bool {
	if encoding == "" {
		return c.unmodified(revision)
	}
	for _, tag := range tags(c.r.Header["If-None-Match"]) {
		if strings.TrimPrefix(tag, "W/") == etag(revision) {
			return c.unmodified(revision)
		}
	}
	return c.unmodified(revision + "-" + encoding)
}

// unmodified sets the ETag of a GET, and answers 304 when the caller has that already.
func (c *call) unmodified(revision string) bool {
	c.w.Header().Set("ETag", etag(revision))
	for _, tag := range tags(c.r.Header["If-None-Match"]) {
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag(revision) {
			c.w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}
