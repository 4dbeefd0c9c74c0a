package login

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// Ways to log in.
const (
	byBrowser = "browser"
	byToken   = "token"
)

// ask asks for the hub's address, and for a token or a way to get one, as far as they
// are not known. It reports whether the token was created for this login. A person can go back
// to an earlier question, so a step may run again.
func ask(ctx context.Context, a *app.App) (created bool, err error) {
	originGiven := a.Origin.String() != ""
	var (
		storedWillDo bool
		whyNot       []string // why the stored token will not do; nil: none is stored
		way          string   // byBrowser or byToken; "": not chosen yet
		token        string
	)
	err = a.UI.Ask(ctx,
		prompts.Step{
			Skip: func() bool { return originGiven },
			Question: func() prompts.Question {
				preset := identity.DefaultOrigin
				if id, err := resolve(a); err == nil {
					preset = id.Origin
				}
				return prompts.Question{
					Title:   "Which hub?",
					Prompt:  "Address, scheme://host[:port]",
					Preset:  preset,
					Suggest: true,
					Check: func(typed string) error {
						_, err := hubclient.ParseOrigin(typed)
						return err
					},
				}
			},
			Take: func(answer string) { a.Origin.Value = &answer },
		},
		prompts.Step{
			Doing: "Looking for a stored token",
			Load: func(ctx context.Context) (err error) {
				storedWillDo, whyNot, err = checkStored(ctx, a)
				return err
			},
		},
		prompts.Step{
			Skip: func() bool { return storedWillDo },
			Question: func() prompts.Question {
				return prompts.Question{
					Title:  "How do you log in to " + a.Origin.String() + "?",
					Facts:  whyNot,
					Preset: cmp.Or(way, byBrowser),
					Choices: []prompts.Choice{
						{Value: byBrowser, Text: "In a browser: compare a code and approve it"},
						{Value: byToken, Text: "Paste a token"},
					},
				}
			},
			Take: func(answer string) { way = answer },
		},
		prompts.Step{
			Skip: func() bool { return storedWillDo || way != byToken },
			Question: func() prompts.Question {
				return prompts.Question{
					Title:  "Token for " + a.Origin.String(),
					Prompt: "Personal access token, not shown",
					Secret: true,
					Check:  checkToken,
					Facts: []string{"Create one on the hub's page of tokens, or ask its administrator. " +
						"It is stored here, readable by you alone."},
				}
			},
			Take: func(answer string) { token = identity.CleanToken(answer) },
		})
	if err != nil || storedWillDo {
		return false, err
	}
	if way == byBrowser {
		id, err := resolve(a)
		if err != nil {
			return false, err
		}
		if token, err = approveInBrowser(ctx, a, *id); err != nil {
			return false, err
		}
	}
	a.Token.Value = &token
	return way == byBrowser, nil
}

// checkStored reports whether the stored token will do, and in a sentence why not: it is
// damaged, the hub rejects it, or it expires soon. Other failures come up when it is stored again.
func checkStored(ctx context.Context, a *app.App) (willDo bool, whyNot []string, err error) {
	id, err := resolve(a)
	if err != nil || id.Token == "" {
		return false, nil, err
	}
	hub, err := a.Reach(id)
	if err != nil {
		if failure.Of(err).Code == hubclient.CodeTokenMalformed {
			return false, []string{"The stored token is damaged."}, nil
		}
		return false, nil, err
	}
	me, err := hub.Whoami(ctx)
	if hubclient.HasCode(err, wire.CodeUnauthorized, wire.CodeTokenExpired, wire.CodeTokenRevoked) {
		return false, []string{"The hub rejected the stored token: " + err.Error() + "."}, nil
	}
	if err != nil {
		return true, nil, nil // a hub that cannot be asked is no reason to ask for another token
	}
	if app.ExpiresSoon(me.ExpiresAt) {
		return false, []string{"The stored token " + app.Expiry(me.ExpiresAt) + "."}, nil
	}
	return true, nil, nil
}

// checkToken refuses what cannot be a token, before anybody is asked about it.
func checkToken(typed string) error {
	token := identity.CleanToken(typed)
	switch {
	case pat.Valid(token):
		return nil
	case len(token) < pat.Length:
		return errors.New("not a whole token yet: hubpat_ and 38 letters and digits")
	}
	return errors.New("mistyped: that is not a token as a hub prints it")
}

// readToken takes the token from the first line of stdin.
func readToken(ctx context.Context, a *app.App) error {
	lines := bufio.NewScanner(a.Streams.In)
	scanned := make(chan struct{})
	go func() { // a read cannot be cancelled
		lines.Scan()
		close(scanned)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-scanned:
	}
	token := identity.CleanToken(lines.Text())
	if token == "" || lines.Err() != nil {
		return failure.New(failure.CodeNoToken, "there is no token on stdin")
	}
	a.Token.Value = &token
	return nil
}

// maxInterval bounds the polling interval that a hub can ask for, in seconds.
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
		a.Diagnose("No browser could be started from here: open that address yourself.")
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
	case hubclient.HasCode(err, wire.CodeUnknownRoute) && !strings.Contains(f.Hint, "the hub is at"):
		f = f.WithHint("this hub does not support logging in with a browser; paste a token instead")
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
