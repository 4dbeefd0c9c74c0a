package hubserver_test

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/png"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var rowLinks = regexp.MustCompile(`<th scope="row"><a class="(?:directory|file)" dir="auto" href="([^"]*)">([^<]*)</a>`)

// rowsOf returns the names and addresses of the rows on a Files tab.
func rowsOf(text string) (names, addresses []string) {
	for _, found := range rowLinks.FindAllStringSubmatch(text, -1) {
		names, addresses = append(names, html.UnescapeString(found[2])), append(addresses, html.UnescapeString(found[1]))
	}
	return names, addresses
}

func TestFilesPage_ShowsDirectoriesAndFiles(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.publicProject("web")
		anyone := hub.with("")
		if text := string(anyone.get("/@acme/web/files").want(200).body); !strings.Contains(text, "No base files") {
			t.Error(text)
		}
		anyone.get("/@acme/web/files/a").want(404)
		odd := []string{"a b.txt", "#1.txt", "what?.txt", "50%.txt", "%2e.txt", "a&b<c>.txt", `quote"s.txt`, "{{.}}.txt",
			"javascript:alert(1)", "ünïcode.txt", "a+b.txt", ";x.txt", "%252F"}
		files := []file{
			{name: "index.html", content: "<script>alert(1)</script>\r\n\tend\u202e"},
			{name: "src/main.ts", content: "a"}, {name: "src/deep/er/x.ts", content: "bb"}, {name: "src.ts"},
			{name: "run.sh", content: "x", mode: 0o755}, {name: "logo.png", content: "\x89PNG\x00"},
			{name: "latin1.txt", content: "\xe9"},
			{name: "large.txt", content: strings.Repeat("x", 256<<10+1)},
		}
		for _, name := range odd {
			files = append(files, file{name: "odd/" + name, content: "odd " + name})
		}
		hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
		root := string(anyone.get("/@acme/web/files").want(200).body)
		names, _ := rowsOf(root)
		if want := []string{"odd/", "src/", "index.html", "large.txt", "latin1.txt", "logo.png", "run.sh",
			"src.ts"}; !slices.Equal(names, want) {
			t.Errorf("the root lists %q", names)
		}
		if !strings.Contains(root, `run.sh</a> <span class="badge">executable</span>`) {
			t.Error(root)
		}
		names, addresses := rowsOf(string(anyone.get("/@acme/web/files/odd").want(200).body))
		if len(names) != len(odd) {
			t.Errorf("the directory lists %q", names)
		}
		for i, address := range addresses {
			if text := html.UnescapeString(string(anyone.get(address).want(200).body)); !strings.Contains(text,
				"odd "+names[i]) {
				t.Errorf("%s at %s: %s", names[i], address, text)
			}
		}
		for path, want := range map[string]string{
			"/index.html": "<span class=\"line\" id=\"L1\">&lt;script&gt;alert(1)&lt;/script&gt;\n</span><span class=\"line\" " +
				"id=\"L2\">\tend\\u202e\n</span></code>",
			"/src.ts": "The file is empty", "/logo.png": "It is binary", "/latin1.txt": "It is binary",
			"/large.txt": "It is too large",
			"?find=DEEP": ">src/deep/er/x.ts</a>", "?find=none": "No file matches", "/src/": ">deep/</a>",
		} {
			if text := string(anyone.get("/@acme/web/files" + path).want(200).body); !strings.Contains(text, want) {
				t.Errorf("%s does not show %q:\n%s", path, want, text)
			}
		}
		for _, path := range []string{"/none", "/src/none", "/../../etc/passwd", "/..", "/src%00", "/src/main.ts/x", "/%ff"} {
			if text := string(anyone.get("/@acme/web/files" + path).want(404).body); strings.Contains(text, "passwd:") {
				t.Error(text)
			}
		}
		for _, query := range []string{"from=x", "from=-1", "from=99999999999999999999", "find=" + strings.Repeat("x", 201)} {
			anyone.get("/@acme/web/files?" + query).want(422)
		}
		anyone.get("/@acme/web/files?from=1000").want(200)
	})
}

// Each line of a page takes many times the byte that an empty one has in the file.
func TestFilesPage_BoundsTheLinesOfAFile(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.catalog()
	hub.publicProject("web")
	const svg = `<svg xmlns="http://www.w3.org/2000/svg"/>`
	hub.as("alice").put(baseFiles, archive(t,
		file{name: "most.txt", content: strings.Repeat("\n", 20_000)},
		file{name: "more.txt", content: strings.Repeat("\n", 256<<10)},
		file{name: "more.svg", content: svg + strings.Repeat("\n", 200<<10)},
	)).want(200)
	for name, want := range map[string]string{
		"most.txt": `id="L20000"`, "more.txt": "It has too many lines to be shown here.",
		"more.svg": `<img src="data:image/svg`,
	} {
		text := string(hub.with("").get("/@acme/web/files/" + name).want(200).body)
		if !strings.Contains(text, want) || len(text) > 1<<20 {
			t.Errorf("%s: a page of %d bytes, want %q in it: %.2000s", name, len(text), want, text)
		}
	}
}

func TestFilesPage_PagesThroughManyFiles(t *testing.T) {
	takesLong(t)
	t.Parallel()
	hub := one(t, nil)
	hub.catalog()
	hub.publicProject("web")
	var files []file
	for i := range 20_000 {
		files = append(files, file{name: fmt.Sprintf("flat/%05d.txt", i)})
	}
	hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
	for _, start := range []string{"/@acme/web/files/flat", "/@acme/web/files?find=txt"} {
		seen, pages := 0, 0
		for next := start; next != ""; pages++ {
			text := string(hub.with("").get(next).want(200).body)
			if len(text) > 150<<10 {
				t.Fatalf("a page has %d bytes", len(text))
			}
			names, _ := rowsOf(text)
			seen += len(names)
			if next = ""; strings.Contains(text, "Next page") {
				_, rest, _ := strings.Cut(text, `<a class="button next" href="`)
				next, _, _ = strings.Cut(rest, `"`)
				next = html.UnescapeString(next)
			}
		}
		if seen != 20_000 || pages != 40 {
			t.Errorf("%s: %d files on %d pages", start, seen, pages)
		}
	}
}

// tiny is a picture of one pixel, with more bytes than it needs.
func tiny(t testing.TB, more int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return b.String() + strings.Repeat("x", more)
}

func TestFilesPage_ShowsImages(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.catalog()
	hub.publicProject("web")
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script><image ` +
		`href="//evil.example/x.png"/></svg>`
	hub.as("alice").put(baseFiles, archive(t,
		file{name: "logo.png", content: tiny(t, 0)}, file{name: "photo.PNG", content: tiny(t, 600<<10)},
		file{name: "mark.svg", content: svg},
		file{name: "page.png", content: "<html><script>alert(1)</script>"}, file{name: "large.png", content: tiny(t, 1<<20)},
		file{name: "latin1.svg", content: "\xe9"},
	)).want(200)
	for name, want := range map[string]string{
		"logo.png": `<img src="data:image/png;base64,iVBOR`, "photo.PNG": `<img src="data:image/png;base64,iVBOR`,
		"mark.svg": `<img src="data:image/svg&#43;xml;base64,PHN2Zy`,
		"page.png": "&lt;script&gt;", "large.png": "It is too large to be shown here.", "latin1.svg": "It is binary.",
	} {
		text := string(hub.with("").get("/@acme/web/files/" + name).want(200).body)
		if !strings.Contains(text, want) || strings.Contains(text, `<img src="data:`) != strings.HasPrefix(want, "<img") {
			t.Errorf("%s: %q is missing in %.3000s", name, want, text)
		}
	}
	b := newBrowser(t)
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web/files/logo.png"))
	if width := do(t, b, chromedp.Evaluate[int](`document.querySelector(".picture img").naturalWidth`)); width != 1 {
		t.Errorf("the picture is %d pixels wide", width)
	}
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web/files/mark.svg"))
	b.waitFor(t, `document.querySelector(".picture img").complete`)
	if lines := do(t, b, chromedp.Evaluate[string](`document.querySelector(".code").innerText`)); strings.TrimSpace(
		lines) != svg {
		t.Errorf("its text is %q", lines)
	}
	b.quiet(t)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		if !strings.HasPrefix(url, hub.url) && !strings.HasPrefix(url, "data:") {
			t.Errorf("it asks for %s", url)
		}
	}
}
