package page

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Files is the tab with a project's base files: a directory, the files that match a
// search, or one file.
type Files struct {
	Project
	Path   string // of the directory or file; "" for the root
	Trail  []Link // the directories on the way to it, and itself
	Find   string // what was searched for
	Rows   []FileRow
	First  string // the address of the first page; "" on that page
	Next   string // the address of the next page; "" on the last one
	Shown  int    // rows up to the end of this page
	All    int    // rows of all pages
	File   *File  // nil: not a file
	Hidden string // why the file's content is not shown; "" if it is
}

// Link is a name with its address.
type Link struct{ Name, URL string }

// FileRow is a file or a directory in a list.
type FileRow struct {
	Link
	Count      int // of files in a directory; 0 for a file
	Size       int64
	Executable bool
}

// File is one base file.
type File struct {
	Size       int64
	Executable bool
	SHA256     string
	Lines      []string
	Image      template.URL // its content, if it is an image; "" otherwise
}

// imageNames are the extensions of the images that a page shows.
var imageNames = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".ico", ".svg"}

// IsImageName reports whether a file with this name may be an image that a page shows.
func IsImageName(name string) bool {
	return slices.Contains(imageNames, strings.ToLower(path.Ext(name)))
}

// ImageURL returns a data URL with the content of an image, "" if it is none. The type
// comes from the content, or is SVG, of which an img element runs and fetches nothing.
func ImageURL(name string, content []byte) template.URL {
	if !IsImageName(name) {
		return ""
	}
	mediaType := http.DetectContentType(content)
	switch {
	case strings.EqualFold(path.Ext(name), ".svg"):
		if !utf8.Valid(content) {
			return ""
		}
		mediaType = "image/svg+xml"
	case len(content) > 12 && bytes.Equal(content[4:12], []byte("ftypavif")):
		mediaType = "image/avif"
	case !strings.HasPrefix(mediaType, "image/"):
		return ""
	}
	return template.URL("data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString(content)) //nolint:gosec // its parts are of fixed alphabets
}

// Render returns the page.
func (f Files) Render() ([]byte, error) { return render("files", f) }
