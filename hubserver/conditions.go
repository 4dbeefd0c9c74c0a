package hubserver

import (
	"net/http"
	"slices"
	"strings"
)

// etag writes a revision or a digest as a strong entity tag.
func etag(revision string) string { return `"` + revision + `"` }

// tags splits a list of entity tags. Those of the hub contain no comma.
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

// ifMatch reports whether the request's If-Match, if it has one, allows a write that
// replaces a resource with this revision. A weak tag never does.
func (c *call) ifMatch(revision string, exists bool) bool {
	header, conditional := c.r.Header["If-Match"]
	if !conditional {
		return true
	}
	asked := tags(header)
	return exists && (slices.Contains(asked, "*") || slices.Contains(asked, etag(revision)))
}

// ifNoneMatch reports whether the request's If-None-Match forbids a write: * if the
// resource exists, a tag if it is that of revision.
func (c *call) ifNoneMatch(revision string, exists bool) bool {
	asked := tags(c.r.Header["If-None-Match"])
	return exists && slices.Contains(asked, "*") || slices.Contains(asked, etag(revision))
}

// createOnly reports whether the request must not replace anything.
func (c *call) createOnly() bool {
	return slices.Contains(tags(c.r.Header["If-None-Match"]), "*")
}

// unmodifiedIn is unmodified for a resource with several encodings, each with its own
// ETag; without an encoding it is the revision. A caller that has the resource without
// encoding may use it whatever it accepts.
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

// unmodified sets the ETag of a GET, and responds with 304 if the caller has that one already.
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
