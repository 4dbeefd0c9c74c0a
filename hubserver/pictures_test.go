package hubserver_test

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store/storetest"
)

// pictures are the pages that README.md shows.
var pictures = []struct {
	view   string
	scheme string
}{{"home", "light"}, {"config", "dark"}, {"files", "light"}, {"history", "dark"}, {"settings", "light"},
	{"live", "light"}}

// petStore is a hub whose previews a browser can reach, with the demo's project @acme/pets.
// Its address is the usual one, for the picture.
func petStore(t *testing.T) *testHub {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:4680")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	hub := newHubOn(t, listener, (&net.Dialer{}).DialContext, storetest.SQLite(t),
		func(cfg *hubserver.Config) { cfg.PublicURL = url })
	hub.url = url
	const sample = "../cmd/internal/sample/petstore"
	description, err := os.ReadFile(sample + "/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	stack := filesBelow(t, sample+"/.tool/web")
	at := slices.IndexFunc(stack, func(f file) bool { return f.name == "stack.json" })
	stack[at].content = strings.NewReplacer("@alice/", "@acme/", "0.1.0", "1.0.0").Replace(stack[at].content)
	alice := hub.as("alice")
	alice.put("/v1/stacks/acme/react-forms/versions/1.0.0",
		typed{"application/gzip", gzipped(hub, tarOf(hub, stack...))}).want(201)
	alice.post("/v1/apis/upload?account=acme&slug=pets", string(description)).want(201)
	row := newProject("pets")
	row.Stack, row.Visibility = "acme/react-forms", wire.Private
	alice.post("/v1/projects", row).want(201)
	client := slices.IndexFunc(stack, func(f file) bool { return f.name == "client.json" })
	alice.put("/v1/projects/acme/pets/client-config", stack[client].content).want(200)
	alice.put("/v1/projects/acme/pets/preview/base-files", archive(t, filesBelow(t, sample+"/apps/web")...)).want(200)
	return hub
}

// edited shows the editor of the pet store with the preview beside it, and an edit that is
// not saved.
func (b *browser) edited(t *testing.T, shop *testHub) {
	t.Helper()
	b.as(t, shop, "alice")
	do(t, b, chromedp.Steps(chromedp.EmulateViewport(1280, 720), chromedp.Navigate(shop.url+"/@acme/pets")))
	await(t, b, `editor.dataset.ready === "true"`)
	awaitPane(t, b, `pane.dataset.state === "painted"`)
	act(t, b, `type("title", "Pets of Springfield")`)
	awaitPane(t, b, `part("changes").textContent.includes("This edit changes")`)
	awaitPane(t, b, `pane.dataset.state === "painted" && !pane.querySelector(".stale")`)
	do(t, b, chromedp.Evaluate[any](
		`new Promise(ok => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => ok(1), 500))))`,
		chromedp.EvalAwaitPromise)) // the frame paints on its own
}

// TestGallery_Pictures takes the pictures for README.md with -update.
func TestGallery_Pictures(t *testing.T) {
	const dir = "../golden/testdata/picture/"
	if !*update {
		for i, p := range pictures {
			if _, err := os.Stat(fmt.Sprintf("%spage-%d-%s.webp", dir, i+1, p.view)); err != nil {
				t.Errorf("%v: -update takes the picture", err)
			}
		}
		return
	}
	hub, shop := gallery(t), petStore(t)
	b := newBrowser(t)
	b.as(t, hub, "alice")
	for i, p := range pictures {
		b.media(t, "prefers-color-scheme", p.scheme)
		if p.view == "live" {
			b.edited(t, shop)
		} else {
			at := slices.IndexFunc(views, func(v view) bool { return v.name == p.view })
			do(t, b, chromedp.Steps(chromedp.EmulateViewport(1120, 630), chromedp.Navigate(hub.url+views[at].path)))
		}
		if p.view == "config" {
			await(t, b, `editor.dataset.ready === "true"`)
		}
		quality := int64(80)
		shot, err := chromedp.Call(b.Context, cdpage.CaptureScreenshot,
			cdpage.CaptureScreenshotParams{Format: cdpage.CaptureScreenshotFormatWebp, Quality: &quality})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(fmt.Sprintf("%spage-%d-%s.webp", dir, i+1, p.view), shot.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
