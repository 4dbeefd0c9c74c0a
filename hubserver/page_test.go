package hubserver_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

func TestPage_ShowsPublicProject(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.publicProject("web")
		empty := string(hub.with("").get("/@acme/web").want(200).body)
		for _, text := range []string{"Never saved", "The config is empty"} {
			if !strings.Contains(empty, text) {
				t.Errorf("the page of a new project does not say %q:\n%s", text, empty)
			}
		}
		hub.settings(`{"theme": {"color": "teal"}, "n": 1.50, "<b>": "</code><script>x</script>", "bidi": "a\u202eb\u0007"}`)
		a := hub.with("").get("/@acme/web").want(200)
		shown := string(a.body)
		for _, text := range []string{
			"<title>@acme/web · hub.test</title>", `title="Stack @acme/site"`, "latest", "(1.0.0)", `title="API @acme/pets"`,
			"Public", "by <strong>alice</strong> · r2",
			"<code>theme.color</code>", html.EscapeString(`"teal"`), "<code>1.50</code>", "&lt;b&gt;",
			"&lt;/code&gt;&lt;script&gt;", `a\u202eb\u0007`,
			"tool login --origin " + publicURL, "tool push web --project @acme/web",
		} {
			if !strings.Contains(shown, text) && !strings.Contains(html.UnescapeString(shown), text) {
				t.Errorf("the page does not say %q:\n%s", text, shown)
			}
		}
		if strings.Contains(shown, "<script>") || strings.ContainsAny(shown, "\u202e\u0007") {
			t.Errorf("the page contains what must not be shown:\n%s", shown)
		}
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": page.Policy(""),
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	})
}

func TestPage_ContentSecurityPolicy(t *testing.T) {
	const want = "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; frame-src "
	if got := page.Policy("http://preview.test"); got != want+"http://preview.test" {
		t.Error(got)
	}
	if got := page.Policy(""); got != want+"'none'" {
		t.Error(got)
	}
}

// tabs are the paths of a project's page.
var tabs = []string{"", "/preview", "/files", "/history", "/settings"}

func TestPage_PrivateAndAbsentLookAlike(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for _, who := range []*caller{hub.with(""), hub.with("bad"), hub.as("sam")} {
			for _, tab := range tabs {
				private, absent := who.get("/@acme/web"+tab).want(404), who.get("/@acme/xxx"+tab).want(404)
				if got := strings.ReplaceAll(string(absent.body), "xxx", "web"); got != string(private.body) {
					t.Errorf("private\n%s\nabsent\n%s", private.body, got)
				}
				if private.header.Get("Content-Security-Policy") != page.Policy("") {
					t.Errorf("%v", private.header)
				}
			}
		}
	})
}

func TestPage_ShowsPrivateProjectToMembers(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for _, user := range []string{"rita", "alice", "anna"} {
			for _, tab := range tabs {
				if text := string(hub.as(user).get("/@acme/web" + tab).want(200).body); !strings.Contains(text,
					`<span class="badge private">`) || !strings.Contains(text, "Your account: "+user) {
					t.Errorf("%s at %s: %s", user, tab, text)
				}
			}
		}
		hub.write(func(tx *store.Tx) error { _, err := tx.RemoveMember("acme", "rita"); return err })
		hub.as("rita").get("/@acme/web").want(404)
	})
}

func TestPage_UnknownAddressIsNotRepeated(t *testing.T) {
	hub := one(t, nil)
	for _, path := range []string{"/@", "/@Alice/web", "/@alice/Web", "/@alice/web/", "/@alice/web/config",
		"/@alice/web%0arm%20-rf", "/@alice%2Fweb", "/@alice/%ff", "/@alice/" + strings.Repeat("x", 5000)} {
		for _, who := range []*caller{hub.with(""), hub.with("bad"), hub.as("sam")} {
			a := who.get(path).want(404)
			if text := string(a.body); !strings.Contains(text, publicURL+"/@account/slug") || strings.Contains(text, "lice") ||
				strings.Contains(text, "xxx") {
				t.Errorf("%s: %s", path, text)
			}
			if a.header.Get("Content-Security-Policy") != page.Policy("") ||
				a.header.Get("Content-Type") != "text/html; charset=utf-8" {
				t.Errorf("%s: %v", path, a.header)
			}
		}
		hub.with("").do("HEAD", path, nil).want(404)
	}
	hub.with("").put("/@alice/web/none", `{}`).problem(404, wire.CodeUnknownRoute)
}

func TestPage_StaticFiles(t *testing.T) {
	hub := one(t, nil)
	address := page.StaticURL("dist/style.css")
	for path, caching := range map[string]string{
		address: "public, max-age=31536000, immutable", "/static/0123456789ab/dist/style.css": "no-cache",
		"/static/dist/style.css": "no-cache",
	} {
		css := hub.with("").get(path).want(200)
		if css.header.Get("Content-Type") != "text/css; charset=utf-8" || css.header.Get("Cache-Control") != caching {
			t.Errorf("%s: %v", path, css.header)
		}
	}
	for _, path := range []string{"/static/", "/static/none.css", "/static/../page.go", "/static/..%5cpage.go",
		"/static/%2e%2e/page.go", "/static//style.css", "/static/style.css/", "/static/.", "/static/%00",
		"/static/layout.html", "/static/0123456789ab/", "/static/0123456789ab/0123456789ab/style.css",
		"/static/other/style.css"} {
		hub.with("").get(path).problem(404, wire.CodeNotFound)
	}
}

func TestPage_UnknownAddressIsAPageForBrowsers(t *testing.T) {
	hub := one(t, nil)
	html := header{"Accept": "text/html,application/xhtml+xml"}
	if a := hub.with("").get("/nothing", html).want(404); a.header.Get("Content-Type") != "text/html; charset=utf-8" ||
		strings.Contains(string(a.body), "nothing") {
		t.Errorf("%v %s", a.header, a.body)
	}
	hub.with("").get("/nothing").problem(404, wire.CodeUnknownRoute)
	hub.with("").get("/v1/nothing", html).problem(404, wire.CodeUnknownRoute)
}

func TestPage_DoesNotReflectHost(t *testing.T) {
	hub := one(t, nil)
	hub.catalog()
	hub.publicProject("web")
	for _, path := range []string{"/@acme/web", "/@acme/none", web, "/v1/openapi.json", "/nothing"} {
		l := hub.dial()
		l.send(fmt.Sprintf(
			"GET %s HTTP/1.1\nX-Forwarded-Host: evil.example\nForwarded: host=evil.example\nX-Forwarded-Proto: gopher\nOrigin: http://evil.example\nReferer: http://evil.example", path))
		a := l.answer()
		if text := fmt.Sprint(a.header, string(a.body)); strings.Contains(text, "evil") || strings.Contains(text, "gopher") ||
			a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %s", path, text)
		}
	}
}

func TestHomePage_ListsWhatTheViewerMaySee(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		if text := string(hub.with("").get("/").want(200).body); !strings.Contains(text, "Nothing public here") {
			t.Errorf("an empty hub shows a stranger %s", text)
		}
		if text := string(hub.as("sam").get("/").want(200).body); !strings.Contains(text, "tool project create @sam/web") {
			t.Errorf("an empty hub shows a user %s", text)
		}
		hub.as("alice").post("/v1/projects", newProject("hidden")).want(201)
		hub.publicProject("open")
		hub.publicProject("other")
		for who, want := range map[*caller][]string{
			hub.with(""): {"open", "other"}, hub.with("bad"): {"open", "other"}, hub.as("sam"): {"open", "other"},
			hub.as("rita"): {"hidden", "open", "other"},
		} {
			for _, size := range []int{1, 2, 50} {
				for _, path := range []string{"/", "/@acme"} {
					var got []string
					for next := fmt.Sprintf("%s?limit=%d", path, size); next != ""; {
						text := string(who.get(next).want(200).body)
						got = append(got, listed(text)...)
						if next = ""; strings.Contains(text, "Next page") {
							_, rest, _ := strings.Cut(text, `<a class="button next" href="`)
							next, _, _ = strings.Cut(rest, `"`)
							next = html.UnescapeString(next)
						}
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s lists %v in pages of %d, want %v", path, got, size, want)
					}
				}
			}
		}
		for q, want := range map[string][]string{"OPEN": {"open"}, "acme/o": {"open", "other"}, "hidden": nil, "<x>": nil,
			"%25": nil} {
			if got := listed(string(hub.with("").get("/?q=" + q).want(200).body)); !slices.Equal(got, want) {
				t.Errorf("a search for %s finds %v, want %v", q, got, want)
			}
		}
		hub.with("").get("/?q=%zz").want(400)
		for _, path := range []string{"/?cursor=x", "/?limit=0", "/?limit=201", "/?q=" + strings.Repeat("x", 130),
			"/@acme?cursor=%00"} {
			if a := hub.with("").get(path).want(422); a.header.Get("Content-Type") != "text/html; charset=utf-8" {
				t.Errorf("%s: %v", path, a.header)
			}
		}
	})
}

// listed returns the slugs of acme's projects in a list.
func listed(text string) (slugs []string) {
	for _, part := range strings.Split(text, `<span class="owner">@acme/</span>`)[1:] {
		slug, _, _ := strings.Cut(part, "<")
		slugs = append(slugs, slug)
	}
	return slugs
}

func TestAccountPage_WithoutPublicProjectsLooksAbsent(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for _, who := range []*caller{hub.with(""), hub.as("sam")} {
			private, absent := who.get("/@acme").want(404), who.get("/@xxxx").want(404)
			if got := strings.ReplaceAll(string(absent.body), "xxxx", "acme"); got != string(private.body) {
				t.Errorf("private\n%s\nabsent\n%s", private.body, got)
			}
		}
		if text := string(hub.as("rita").get("/@acme").want(200).body); !strings.Contains(text, ">Pets</td>") ||
			!slices.Equal(listed(text), []string{"web"}) {
			t.Error(text)
		}
		if text := string(hub.as("sam").get("/@sam").want(200).body); !strings.Contains(text, "No projects yet") {
			t.Error(text)
		}
	})
}

func TestPage_IsCompressedForThoseWhoAcceptIt(t *testing.T) {
	hub := one(t, nil)
	hub.catalog()
	hub.publicProject("web")
	for _, path := range []string{"/@acme/web", "/", "/@acme/none", page.StaticURL("dist/style.css")} {
		plain, packed := hub.with("").get(path), hub.with("").get(path, header{"Accept-Encoding": "br, gzip"})
		z, err := gzip.NewReader(bytes.NewReader(packed.body))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		text, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(text, plain.body) || len(packed.body) > len(text)*2/3 {
			t.Errorf("%s: %d bytes of %d: %v", path, len(packed.body), len(text), err)
		}
		if packed.header.Get("Content-Encoding") != "gzip" || plain.header.Get("Content-Encoding") != "" ||
			plain.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %v and %v", path, plain.header, packed.header)
		}
	}
	if a := hub.with("").post("/sign-in", form("token", "x"), header{"Accept-Encoding": "gzip"}).want(422); a.header.Get(
		"Content-Encoding") != "" {
		t.Errorf("the response to a form is compressed: %v", a.header)
	}
}

func TestAccountPage_ShowsMembersAndBotsToThoseWithARole(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.publicProject("open")
		hub.as("anna").put("/v1/bots/acme/ci", nil).want(201)
		hub.as("anna").post("/v1/bots/acme/ci/tokens", `{"name": "deploy"}`).want(201)
		const members, manages, bot, token = ">rita</a>", `data-action="/v1/`, "@acme/ci", "deploy"
		for user, want := range map[string][]bool{
			"anna": {true, true, true, true}, "rita": {true, false, true, false}, "sam": {false, false, false, false},
		} {
			text := string(hub.session(user).get("/@acme").want(200).body)
			for i, part := range []string{members, manages, bot, token} {
				if strings.Contains(text, part) != want[i] {
					t.Errorf("%s sees %q: not %v\n%s", user, part, want[i], text)
				}
			}
		}
		// An account of a user has no members.
		if text := string(hub.session("sam").get("/@sam").want(200).body); strings.Contains(text, "Members") {
			t.Error(text)
		}
	})
}
