// Package page is the hub's HTML: the page of a project, and the one page that
// stands for every project that is not for whoever asks.
//
// It renders what it is given; it reads no store, checks no token and knows no route.
package page

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"time"

	"example.com/projecthub/hubclient/tree"
)

//go:embed *.html static
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"moment": func(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") },
	"iso":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"plain":  plain,
}).ParseFS(files, "*.html"))

// plain writes out what would not be seen, or would turn the text around it.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		if tree.Unprintable(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Static returns the files that pages refer to under /static/.
func Static() fs.FS {
	sub, err := fs.Sub(files, "static")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return sub
}

// Policy is the Content-Security-Policy of every page: our own style, and nothing else.
const Policy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Project is what the page of a project shows.
type Project struct {
	Ref, Origin              string
	Stack, Version, Resolved string
	API, Visibility          string
	CreatedBy                string
	CreatedAt                time.Time
	Config                   []Setting
	UpdatedBy, UpdatedVia    string
	UpdatedAt                time.Time // zero: the config was never written
	HasFiles                 bool
	FileCount                int
	FileBytes                string
	Tree                     string
}

// Setting is one key of the flat config with its value's text.
type Setting struct{ Key, Value string }

// Render returns the page of a project.
func (p Project) Render() ([]byte, error) { return render("project.html", p) }

// Absent renders the page for a project that is private or not there; the two look
// the same. With ref "" it is for an address that is no project's: what stands
// there is not repeated, since it may be made to be pasted.
func Absent(ref, origin string) ([]byte, error) {
	return render("absent.html", struct{ Ref, Origin string }{ref, origin})
}

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}
