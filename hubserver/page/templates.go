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
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

//go:embed templates
var templateFiles embed.FS

// templates are the pages by name: base, the layout of a project's tabs, and one file a page.
var templates = parse()

// tabFiles are the pages that are shown as a tab of a project.
var tabFiles = []string{"config.html", "preview.html", "files.html", "history.html", "settings.html"}

func parse() map[string]*template.Template {
	base := template.New("").Funcs(functions)
	template.Must(base.ParseFS(templateFiles, "templates/layout.html", "templates/parts.html"))
	all := map[string]*template.Template{}
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range names {
		page := template.Must(base.Clone())
		if slices.Contains(tabFiles, path.Base(name)) {
			template.Must(page.ParseFS(templateFiles, "templates/project.html"))
		}
		all[strings.TrimSuffix(path.Base(name), ".html")] = template.Must(page.ParseFS(templateFiles, name))
	}
	return all
}

// render returns the page of the template of that name.
func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := templates[name].ExecuteTemplate(&b, "layout", data)
	return b.Bytes(), err
}

var functions = template.FuncMap{
	"moment":   func(t store.Time) string { return request.FormatTime(t.Time()) },
	"iso":      func(t store.Time) string { return t.Time().Format(time.RFC3339) },
	"ago":      ago,
	"via":      func(v string) string { return wire.Via(v).Phrase() },
	"short":    short,
	"sentence": sentence,
	"bytes":    func(n int64) string { return humanize.IBytes(uint64(max(0, n))) },
	"count":    count,
	"plain":    func(s string) string { return escape(s, "") },
	"line":     func(s string) string { return escape(s, "\t") },
	"number":   func(n int) string { return humanize.Comma(int64(n)) },
	"inc":      func(n int) int { return n + 1 },
	"browser":  browser,
	"static":   StaticURL,
	"list":     func(items ...string) []string { return items },
}

// short returns the first 12 characters of a digest.
func short(digest string) string { return digest[:min(12, len(digest))] }

// ago says how long ago t was, or how soon it is.
func ago(t store.Time) string {
	text := humanize.Time(t.Time())
	if text == "now" {
		return "just now"
	}
	if wait, ok := strings.CutSuffix(text, " from now"); ok {
		return "in " + wait
	}
	return text
}

// count returns n with the noun, in the plural where that is right.
func count(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return humanize.Comma(n) + " " + noun
}

// escape writes out characters that are invisible, or that change the text around them, except for some.
func escape(s, except string) string {
	var b strings.Builder
	for _, r := range s {
		if tree.Unprintable(r) && !strings.ContainsRune(except, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// browsers and systems are recognised by these parts of what a browser calls itself. The order
// matters: most browsers name several others.
var (
	browsers = [][2]string{
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"CriOS/", "Chrome"},
		{"FxiOS/", "Firefox"}, {"Version/", "Safari"},
	}
	systems = [][2]string{
		{"Android", "Android"}, {"iPhone", "iOS"}, {"iPad", "iPadOS"}, {"CrOS", "ChromeOS"},
		{"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"},
	}
)

// browser names a browser by what it calls itself, such as "Firefox 153 on Linux"; it returns that of
// one that it does not recognise.
func browser(agent string) string {
	for _, b := range browsers {
		_, version, ok := strings.Cut(agent, b[0])
		if !ok {
			continue
		}
		version = version[:len(version)-len(strings.TrimLeft(version, "0123456789"))]
		name := strings.TrimSpace(b[1] + " " + version)
		for _, system := range systems {
			if strings.Contains(agent, system[0]) {
				return name + " on " + system[1]
			}
		}
		return name
	}
	if agent == "" {
		return "unknown browser"
	}
	return agent
}
