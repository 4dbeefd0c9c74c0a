package app

import (
	"context"
	"errors"
	"net/url"

	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/term"
)

// OpenPage opens a page of a hub in a browser, signed in with the caller's rights. It prints
// the address and, unless a browser was opened for sure, a link for one elsewhere.
func (a *App) OpenPage(ctx context.Context, hub *identity.Hub, address string) error {
	out := a.Printer()
	out.Line("The page is %s", address)
	link, once := signedIn(ctx, hub, address)
	opened, err := term.OpenBrowser(a.Getenv, hub.Origin(), link)
	switch {
	case opened:
		out.Line("Opened it in a browser")
		return out.Err()
	case errors.Is(err, term.ErrNoBrowser):
		out.Line("No browser could be started from here")
	case err != nil:
		return Explain(hub, err)
	}
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
