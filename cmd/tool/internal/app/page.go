package app

import (
	"context"
	"errors"
	"net/url"

	"example.com/projecthub/cmd/tool/internal/child"
	"example.com/projecthub/cmd/tool/internal/identity"
)

// OpenPage opens a page of a hub in a browser, signed in with the caller's rights. Where no
// browser can be started, as over SSH, it prints the link for one elsewhere.
func (a *App) OpenPage(ctx context.Context, hub *identity.Hub, address string) error {
	link, once := signedIn(ctx, hub, address)
	err := child.OpenBrowser(a.Getenv, hub.Origin(), link)
	out := a.Printer()
	if err == nil { // what opens pages may still fail, or do nothing, without saying so
		out.Line("Opening %s", address)
		return out.Err()
	}
	if !errors.Is(err, child.ErrNoBrowser) {
		return Explain(hub, err)
	}
	out.Line("No browser could be started from here. The page is:")
	out.Line("  %s", address)
	if once {
		out.Line("This link signs you in, once and within a minute:")
		out.Line("  %s", link)
	}
	return out.Err()
}

// signedIn returns a link that opens the page at an address with the caller's rights, once.
// The page itself does where no link can be had: without a token, or from an older hub.
func signedIn(ctx context.Context, hub *identity.Hub, address string) (link string, once bool) {
	page, err := url.Parse(address)
	if err != nil || hub.Identity.Token == "" {
		return address, false
	}
	created, err := hub.CreateLink(ctx, page.Path)
	if err != nil {
		return address, false
	}
	return created.URL, true
}
