// Package page renders the hub's HTML pages, and embeds the files that they refer to.
//
// It renders what it is given: it reads no store, checks no token and sees no request.
// Each page is a struct with a Render method and a template of the same name; what all
// pages have in common is in templates/layout.html, and the parts that several of them
// use are in templates/parts.html.
package page

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page/static"
)

//go:embed templates
var files embed.FS

// Layout is what every page shows around its content.
type Layout struct {
	Title         string // of the window, without the hub's name
	Origin        string // of the hub
	User          string // who is signed in; "" for nobody
	Here          string // path and query of this page, to return to after sign-in
	Account, Slug string // what the page is about, for the breadcrumb; "" for nothing
	Search        string // what was searched for
}

// HubName returns the hub's host, as people call it.
func (l Layout) HubName() string {
	_, host, _ := strings.Cut(l.Origin, "://")
	return host
}

// Policy returns the Content-Security-Policy of every page. frame is the origin of the
// preview's frame, "" for none.
func Policy(frame string) string {
	if frame == "" {
		frame = "'none'"
	}
	return "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; frame-src " + frame
}

// templates are the pages by name: base, the layout of a project's tabs, and one file a page.
var templates = parse()

// tabFiles are the pages that are shown as a tab of a project.
var tabFiles = []string{"config.html", "edit.html", "preview.html", "files.html", "history.html", "settings.html"}

func parse() map[string]*template.Template {
	base := template.Must(template.New("").Funcs(functions).ParseFS(files, "templates/layout.html", "templates/parts.html"))
	all := map[string]*template.Template{}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range names {
		page := template.Must(base.Clone())
		if slices.Contains(tabFiles, path.Base(name)) {
			template.Must(page.ParseFS(files, "templates/project.html"))
		}
		all[strings.TrimSuffix(path.Base(name), ".html")] = template.Must(page.ParseFS(files, name))
	}
	return all
}

var functions = template.FuncMap{
	"moment":  func(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") },
	"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"ago":     ago,
	"via":     func(v string) string { return wire.Via(v).Phrase() },
	"short":   short,
	"bytes":   func(n int64) string { return humanize.IBytes(uint64(max(0, n))) },
	"count":   count,
	"plain":   plain,
	"line":    func(s string) string { return escape(s, func(r rune) bool { return r == '\t' }) },
	"number":  func(n int) string { return humanize.Comma(int64(n)) },
	"inc":     func(n int) int { return n + 1 },
	"static":  StaticURL,
	"scripts": func(dir string) ([]string, error) { return fs.Glob(static.Files, dir+"/*.js") },
	"list":    func(items ...string) []string { return items },
}

// short returns the first 12 characters of a digest.
func short(digest string) string { return digest[:min(12, len(digest))] }

// ago says how long ago t was, or how soon it is.
func ago(t time.Time) string {
	text := humanize.Time(t)
	if text == "now" {
		return "just now"
	}
	if wait, ok := strings.CutSuffix(text, " from now"); ok {
		return "in " + wait
	}
	return text
}

// count returns n with the noun, in the plural where that is right.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return humanize.Comma(int64(n)) + " " + noun
}

// plain writes out characters that are invisible, or that change the text around them.
func plain(s string) string { return escape(s, func(rune) bool { return false }) }

func escape(s string, except func(rune) bool) string {
	var b strings.Builder
	for _, r := range s {
		if tree.Unprintable(r) && !except(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := templates[name].ExecuteTemplate(&b, "layout", data)
	return b.Bytes(), err
}
