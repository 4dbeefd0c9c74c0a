package golden_test

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// browser is a page in a real Chromium.
type browser struct {
	t   testing.TB
	ctx context.Context
}

func newBrowser(t testing.TB) *browser {
	t.Helper()
	path := need(t, "chromium", "apt-get install chromium")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which it refuses to set up for root
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return &browser{t, ctx}
}

// act runs one action.
func act[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// js runs a script in the page and returns its value.
func js[T any](b *browser, script string) T {
	b.t.Helper()
	return act(b, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// wait waits until a script in the page returns true.
func (b *browser) wait(script string) {
	b.t.Helper()
	waitUntil(b.t, func() (string, bool) {
		return js[string](b, "document.body?.innerText ?? ''"), js[bool](b, "Boolean("+script+")")
	})
}

// waitApp waits until a script in the app that is previewed returns this text.
func (b *browser) waitApp(script, want string) {
	b.t.Helper()
	if built, ok := debug.ReadBuildInfo(); ok &&
		slices.Contains(built.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		b.t.Skip("chromedp has a race of its own where it looks into a frame: go test ./golden, without -race")
	}
	waitUntil(b.t, func() (string, bool) {
		got, err := b.inApp(script)
		if err != nil {
			got = err.Error() + "\n" + js[string](b, "document.body?.innerText ?? ''")
		}
		return got, err == nil && got == want
	})
}

// inApp runs a script in the app that is previewed: its frame is before those that are being made. It may be
// replaced meanwhile.
func (b *browser) inApp(script string) (string, error) {
	targets, err := chromedp.Targets(b.ctx)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(targets, func(t *target.Info) bool { return t.Type == "iframe" })
	if at < 0 {
		return "", fmt.Errorf("there is no frame")
	}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(targets[at].TargetID), chromedp.WithDetachOnCancel())
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Steps()); err != nil {
		return "", err
	}
	tree, err := chromedp.Call(ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return "", err
	}
	if len(tree.FrameTree.ChildFrames) == 0 {
		return "", fmt.Errorf("no frame shows an app")
	}
	world, err := chromedp.Call(ctx, page.CreateIsolatedWorld,
		page.CreateIsolatedWorldParams{FrameID: tree.FrameTree.ChildFrames[0].Frame.ID})
	if err != nil {
		return "", err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[string](script,
		func(p *runtime.EvaluateParams) { p.ContextID = world.ExecutionContextID }))
}

// waitUntil looks again and again until something is so, and says what it saw last
// where it never is.
func waitUntil(t testing.TB, look func() (seen string, ok bool)) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		seen, ok := look()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("it shows %q", seen)
		}
	}
}
