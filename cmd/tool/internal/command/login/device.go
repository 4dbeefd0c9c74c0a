package login

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// maxInterval is for how many seconds at most a hub can have a terminal wait between two questions.
const maxInterval = 60

// approveInBrowser returns the token that a user approves for this terminal in a browser.
func approveInBrowser(ctx context.Context, a *app.App, id identity.Identity) (token string, err error) {
	id.Token = "" // the hub would refuse a stored token that it refused before
	hub, err := a.Reach(&id)
	if err != nil {
		return "", err
	}
	d, err := hub.StartDevice(ctx, clientName())
	if err != nil {
		return "", explainDevice(hub, err)
	}
	a.Diagnose("Your code: %s for %s", d.UserCode, hub.Origin())
	a.Diagnose("Compare both, and approve this terminal, at this address:")
	a.Diagnose("  %s", d.VerificationURIComplete)
	if _, err := term.OpenBrowser(a.Getenv, hub.Origin(), d.VerificationURIComplete); err != nil {
		a.Diagnose("Open that address in a browser: none could be started from here.")
	}
	a.Diagnose("Waiting for your approval; ctrl-c cancels.")
	every := time.Duration(max(1, min(d.Interval, maxInterval))) * time.Second
	expires := time.Now().Add(time.Duration(d.ExpiresIn) * time.Second)
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(every):
		}
		t, err := hub.DeviceToken(ctx, d.DeviceCode)
		if err == nil {
			return t.Token, nil
		}
		isPending := hubclient.HasCode(err, wire.CodeAuthorizationPending)
		if !isPending || time.Now().After(expires) {
			return "", explainDevice(hub, err)
		}
	}
}

// explainDevice says what to do when a login in a browser fails.
func explainDevice(hub *identity.Hub, err error) error {
	f := app.Explain(hub, err).WithRecipe()
	switch {
	case hubclient.HasCode(err, wire.CodeUnknownRoute):
		f = f.WithHint("this hub is older and approves no terminals; paste a token instead")
	case hubclient.HasCode(err, wire.CodeAccessDenied, wire.CodeExpiredToken):
		f = f.Try(cmdline.Tool("login").Flag("--origin", hub.Origin()))
	}
	return f
}

// clientName is what the page calls this terminal, and the token.
func clientName() string {
	host, _ := os.Hostname()
	host = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' { // the hub would not accept it
			return -1
		}
		return r
	}, host)
	if host == "" {
		return "tool"
	}
	return "tool on " + host[:min(len(host), 80)]
}

// revokeTime bounds how long it takes to revoke a token that could not be stored.
const revokeTime = 2 * time.Second

// revokeUnstored revokes the token that was approved, because it could not be stored, and
// adds that to the failure to store it.
func revokeUnstored(ctx context.Context, a *app.App, id *identity.Identity, failed error) error {
	hub, err := a.Reach(id)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTime)
		defer cancel()
		_, err = hub.RevokeToken(ctx, wire.TokenSelf)
	}
	text := "the token that you approved is revoked"
	if err != nil && !hubclient.HasCode(err, wire.CodeUnauthorized, wire.CodeTokenRevoked, wire.CodeTokenExpired) {
		text = "the token that you approved may be valid still: revoke it at " + id.Origin + "/tokens"
	}
	if errors.Is(failed, context.Canceled) {
		a.Diagnose("%s", text)
		return failed
	}
	return addHint(failed, text)
}
