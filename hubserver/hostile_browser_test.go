package hubserver_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// hostileHub shows the payloads wherever a hub shows text of its users, but for configs,
// which TestBrowser_ConfigNeverRuns looks at.
func hostileHub(t *testing.T) (hub *testHub, names []string) {
	hub = one(t, nil)
	hub.catalog()
	hub.publicProject("web")
	alice := hub.as("alice")
	all := payloads()
	for i, part := range slices.Collect(slices.Chunk(all, 6)) {
		description := map[string]any{
			"openapi": "3.1.0", "paths": map[string]any{},
			"info": map[string]any{"title": strings.Join(part, " "), "version": part[0], "description": part[0]},
		}
		alice.post(fmt.Sprintf("/v1/apis/upload?account=acme&slug=api-%02d", i), description).want(201)
	}
	files := []file{{name: "all.txt", content: strings.Join(all, "\n")}}
	for i, p := range all {
		name := fmt.Sprintf("d/%03d %s", i, strings.NewReplacer("/", "∕", `\`, "", "\t", "", "\n", "").Replace(p))
		if tree.CheckPath(name) == nil {
			files, names = append(files, file{name: name, content: p}), append(names, name)
		}
	}
	alice.put(baseFiles, archive(t, files...)).want(200)
	hub.write(func(tx *store.Tx) error {
		for i, p := range all {
			token := &store.Token{Hash: pat.Hash(pat.New()), Shown: fmt.Sprintf("hubpat_%05d", i), Name: p, Owner: "alice"}
			if err := tx.CreateToken(token); err != nil {
				return err
			}
		}
		return nil
	})
	return hub, names
}

func TestBrowser_NoPayloadRuns(t *testing.T) {
	t.Parallel()
	hub, names := hostileHub(t)
	if len(names) < 200 {
		t.Fatalf("only %d payloads are names of files", len(names))
	}
	paths := []string{"/@acme", "/tokens", "/@acme/web", "/@acme/web/files", "/@acme/web/files/d",
		"/@acme/web/files?find=alert", "/@acme/web/files/all.txt", "/@acme/web/history", "/@acme/web/settings"}
	for i := 0; i < len(names); i += rounds(36, 9) {
		address := url.URL{Path: "/@acme/web/files/" + names[i]}
		paths = append(paths, address.EscapedPath())
	}
	for i, p := range payloads() {
		if i%rounds(3, 1) != 0 {
			continue
		}
		q := url.QueryEscape(p)
		// Each place that shows what an address says gets each payload, one after another.
		paths = append(paths, []string{"/?q=" + q, "/?cursor=" + q, "/@acme/web/files?find=" + q, "/@acme/web?q=" + q,
			"/sign-in?to=" + q, "/sign-in?to=%2F" + q, "/@acme/web/files/" + url.PathEscape(p), "/@acme/none?" + q,
			"/device?code=" + q, "/link?code=" + q}[i%10])
	}
	_, styles, _ := page.Static("dist/style.css")
	for part := range slices.Chunk(paths, 80) { // a browser has three minutes
		b := newBrowser(t)
		b.signIn(t, hub.session("alice", wire.Scopes...))
		for _, path := range part {
			do(t, b, chromedp.Navigate(hub.url+path))
			misdeeds := do(t, b, chromedp.Evaluate[[]string](`window.misdeeds`))
			at := do(t, b, chromedp.Evaluate[string](`location.origin`))
			foreign := do(t, b, chromedp.Evaluate[[]string](
				`[...document.querySelectorAll("script:not([src^='/static/']), iframe, object, embed, style, base, meta[http-equiv], svg:not([viewBox='0 0 16 16']), svg :not(path), math, [onerror], [onload], [onfocus], [ontoggle], [onmouseover], [onstart]")].map(e => e.outerHTML.slice(0, 200))`))
			links := do(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll("[href], [src], [action], [formaction]")].flatMap(e => ["href", "src", "action", "formaction"].map(n => e.getAttribute(n)).filter(Boolean))
				.filter(a => new URL(a, location).origin !== location.origin)`))
			if len(misdeeds)+len(foreign)+len(links) > 0 || at != hub.url {
				t.Errorf("%s at %s: %q, the elements %q and the addresses %q", path, at, misdeeds, foreign, links)
			}
		}
		b.mu.Lock()
		if len(b.events) > 0 {
			t.Errorf("%q", b.events)
		}
		for _, address := range b.requests {
			isPicture := strings.Contains(string(styles), address) // of the style sheet itself
			if !strings.HasPrefix(address, hub.url+"/") && !isPicture {
				t.Errorf("a page asks for %s", address)
			}
		}
		b.mu.Unlock()
	}
	t.Logf("%d pages", len(paths))
}
