package page

import (
	"bytes"
	"embed"
	"fmt"
	"hash/fnv"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

//go:embed templates
var templateFiles embed.FS

// templates are the pages by name: base, the layout of a project's tabs, and one file a page. Most commands of the
// program show no page, and would take longer to parse them than for their own work.
var templates = sync.OnceValue(parse)

// tabFiles are the pages that are shown as a tab of a project.
var tabFiles = []string{"config.html", "preview.html", "files.html", "history.html", "settings.html"}

func parse() map[string]*template.Template {
	base := template.New("").Funcs(functions)
	template.Must(base.ParseFS(templateFiles, "templates/layout.html", "templates/parts.html"))
	all := map[string]*template.Template{}
	names, _ := fs.Glob(templateFiles, "templates/*.html") // the pattern is valid
	for _, name := range names {
		page := template.Must(base.Clone())
		if slices.Contains(tabFiles, path.Base(name)) {
			template.Must(page.ParseFS(templateFiles, "templates/project.html"))
		}
		all[strings.TrimSuffix(path.Base(name), ".html")] = template.Must(page.ParseFS(templateFiles, name))
	}
	return all
}

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := templates()[name].ExecuteTemplate(&b, "layout", data)
	return b.Bytes(), err
}

var functions = template.FuncMap{
	"moment":   func(t store.Time) string { return request.FormatTime(t.Time()) },
	"iso":      func(t store.Time) string { return t.Time().Format(time.RFC3339) },
	"ago":      ago,
	"did":      did,
	"names":    names,
	"icon":     icon,
	"hue":      hue,
	"initial":  func(name string) string { return strings.ToUpper(strings.TrimPrefix(name, "@")[:1]) },
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
	"words":    strings.Fields,
	"list":     func(items ...string) []string { return items },
}

// icons are the paths of small pictures, drawn in a square of 16.
var icons = map[string]string{
	"api":      "M7 9a3 3 0 0 0 4 0l2-2a3 3 0 0 0-4-4L8 4M9 7a3 3 0 0 0-4 0L3 9a3 3 0 0 0 4 4l1-1",
	"chevron":  "M6 4l4 4-4 4",
	"clock":    "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3l2 2",
	"hub":      "M8 1.5 13.5 4.7v6.6L8 14.5 2.5 11.3V4.7ZM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z",
	"private":  "M4 7.5h8v6H4ZM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
	"public":   "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c2 2 2 10 0 12M8 2c-2 2-2 10 0 12",
	"search":   "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM11 11l3 3",
	"stack":    "M8 2l6 3-6 3-6-3 6-3ZM2 8l6 3 6-3M2 11l6 3 6-3",
	"terminal": "M3 4l4 4-4 4M8.5 12H13",
}

// icon returns a small picture, which says nothing that the text next to it does not say.
func icon(name string) template.HTML {
	picture := `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="` + icons[name] + `"/></svg>`
	return template.HTML(picture) //nolint:gosec // of constants
}

// hues is how many colours of faces the style sheet has.
const hues = 6

func hue(name string) uint32 {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // it never fails
	return sum.Sum32() % hues
}

// did says how a revision came to be, where its author wrote no message.
func did(via string) string {
	text, ok := map[wire.Via]string{
		wire.ViaCreate: "Created", wire.ViaPush: "Pushed", wire.ViaPage: "Edited on the page",
		wire.ViaAPI: "Changed through the API", wire.ViaRestore: "Restored",
	}[wire.Via(via)]
	if !ok {
		return "Changed"
	}
	return text
}

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
