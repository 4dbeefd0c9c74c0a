package hubserver_test

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
)

func TestPage_ShowsPublicProject(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.publicProject("web")
		empty := string(hub.with("").get("/@acme/web").want(200).body)
		for _, text := range []string{"never written", "The config is empty", "<dd>none</dd>"} {
			if !strings.Contains(empty, text) {
				t.Errorf("the page of a new project does not say %q:\n%s", text, empty)
			}
		}
		hub.settings(`{"theme": {"color": "teal"}, "n": 1.50, "<b>": "</code><script>x</script>", "bidi": "a\u202eb\u0007"}`)
		tree := decoded[wire.BaseFilesWritten](hub.as("alice").put(baseFiles, archive(t, file{name: "a", content: "xx"})).want(200)).Tree
		a := hub.with("").get("/@acme/web").want(200)
		shown := string(a.body)
		for _, text := range []string{
			"<h1>@acme/web</h1>", "@acme/site, version latest (now 1.0.0)", "@acme/pets", "public", "by alice, through push", "1 file, 2 B", tree,
			"<code>theme.color</code>", html.EscapeString(`"teal"`), "<code>1.50</code>", "&lt;b&gt;", "&lt;/code&gt;&lt;script&gt;", `a\u202eb\u0007`,
			"tool login --origin " + publicURL, "tool push &lt;local project&gt; --project @acme/web",
		} {
			if !strings.Contains(shown, text) && !strings.Contains(html.UnescapeString(shown), text) {
				t.Errorf("the page does not say %q:\n%s", text, shown)
			}
		}
		if strings.Contains(shown, "<script") || strings.ContainsAny(shown, "\u202e\u0007") {
			t.Errorf("the page holds what nobody should be shown:\n%s", shown)
		}
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": page.Policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	})
}

func TestPage_ContentSecurityPolicy(t *testing.T) {
	for _, rule := range []string{"default-src 'none'", "style-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} {
		if !strings.Contains(page.Policy, rule) {
			t.Errorf("%q is not in %q", rule, page.Policy)
		}
	}
	if strings.Contains(page.Policy, "unsafe") || strings.Contains(page.Policy, "script-src") {
		t.Error(page.Policy)
	}
}

func TestPage_PrivateAndAbsentLookAlike(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for _, who := range []*caller{hub.with(""), hub.with("bad"), hub.as("sam"), hub.as("alice")} { // a page looks at no token
			private, absent := who.get("/@acme/web").want(404), who.get("/@acme/xxx").want(404)
			if got := strings.ReplaceAll(string(absent.body), "xxx", "web"); got != string(private.body) {
				t.Errorf("private\n%s\nabsent\n%s", private.body, got)
			}
			if private.header.Get("Content-Security-Policy") != page.Policy {
				t.Errorf("%v", private.header)
			}
		}
	})
}

func TestPage_UnknownAddressIsNotRepeated(t *testing.T) {
	hub := one(t, nil)
	for _, path := range []string{"/@", "/@alice", "/@Alice/web", "/@alice/Web", "/@alice/web/", "/@alice/web/config", "/@alice/web%0arm%20-rf", "/@alice%2Fweb", "/@alice/%ff", "/@alice/" + strings.Repeat("x", 5000)} {
		for _, who := range []*caller{hub.with(""), hub.with("bad"), hub.as("alice")} {
			a := who.get(path).want(404)
			if text := string(a.body); !strings.Contains(text, publicURL+"/@account/slug") || strings.Contains(text, "lice") || strings.Contains(text, "xxx") {
				t.Errorf("%s: %s", path, text)
			}
			if a.header.Get("Content-Security-Policy") != page.Policy || a.header.Get("Content-Type") != "text/html; charset=utf-8" {
				t.Errorf("%s: %v", path, a.header)
			}
		}
		hub.with("").do("HEAD", path, nil).want(404)
	}
	hub.with("").put("/@alice", `{}`).problem(404, wire.CodeUnknownRoute)
}

func TestPage_StaticFiles(t *testing.T) {
	hub := one(t, nil)
	css := hub.with("").get("/static/hub.css").want(200)
	if css.header.Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(css.header.Get("Cache-Control"), "max-age") {
		t.Errorf("%v", css.header)
	}
	for _, path := range []string{"/static/", "/static/none.css", "/static/../page.go", "/static/..%5cpage.go", "/static/%2e%2e/page.go", "/static//hub.css", "/static/hub.css/", "/static/.", "/static/%00", "/static/project.html"} {
		hub.with("").get(path).problem(404, wire.CodeNotFound)
	}
}

func TestPage_DoesNotReflectHost(t *testing.T) {
	hub := one(t, nil)
	hub.catalog()
	hub.publicProject("web")
	for _, path := range []string{"/@acme/web", "/@acme/none", web, "/v1/openapi.json", "/nothing"} {
		l := hub.dial()
		l.send(fmt.Sprintf("GET %s HTTP/1.1\nX-Forwarded-Host: evil.example\nForwarded: host=evil.example\nX-Forwarded-Proto: gopher\nOrigin: http://evil.example\nReferer: http://evil.example", path))
		a := l.answer()
		if text := fmt.Sprint(a.header, string(a.body)); strings.Contains(text, "evil") || strings.Contains(text, "gopher") || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %s", path, text)
		}
	}
}
