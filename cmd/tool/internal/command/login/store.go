// Package login checks a token with the hub and stores it, or gets one that is approved
// in a browser, and forgets it again.
package login

import (
	"context"
	"errors"
	"net/http"
	"time"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Result is a login.
type Result struct {
	Origin    string       `json:"origin"`
	User      string       `json:"user"`
	Scopes    []wire.Scope `json:"scopes"`
	ExpiresAt *time.Time   `json:"expiresAt"` // null: never
	Notes     []string     `json:"notes"`

	Restriction wire.Restriction `json:"restriction,omitzero"` // of the token
}

const stage = "login"

// store checks the token of id with the hub, and stores it as the one in use.
func store(ctx context.Context, a *app.App, id *identity.Identity, logins *identity.Logins) (*Result, error) {
	hub, err := a.Reach(id)
	if err != nil {
		return nil, failure.At(stage, err)
	}
	me, err := hub.Whoami(ctx)
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	if err != nil {
		e := app.Explain(hub, err).At(stage).WithRecipe() // what was typed is what would be advised
		if e.Status == http.StatusUnauthorized && hub.Identity.TokenSource == identity.FromLogin {
			e.Recipe = []cmdline.Line{cmdline.Tool("login").Flag("--origin", hub.Origin()).Flag("--with-token")}
		}
		return nil, e
	}
	logins.Put(identity.Login{
		Origin: hub.Origin(), Token: hub.Identity.Token, User: me.Name(), Scopes: me.Scopes, ExpiresAt: me.ExpiresAt,
	})
	if err := logins.Save(); err != nil {
		return nil, failure.At(stage, err)
	}
	r := &Result{Origin: hub.Origin(), User: me.Name(), Scopes: me.Scopes, ExpiresAt: me.ExpiresAt, Notes: []string{}, Restriction: me.Restriction}
	if len(me.Scopes) == 0 {
		r.Notes = append(r.Notes, "the token has no scope: it reads, and writes nothing")
	}
	return r, nil
}

// Out is a logout.
type Out struct {
	Origin  string   `json:"origin"`
	Existed bool     `json:"existed"`
	Current string   `json:"current"` // origin of the current hub; "": none is
	Notes   []string `json:"notes"`
}

// forget forgets the token of origin. No other hub becomes the current one.
func forget(a *app.App, origin string, logins *identity.Logins) (*Out, error) {
	login, _ := logins.Find(origin)
	r := &Out{Origin: origin, Existed: logins.Remove(origin), Notes: []string{}}
	if r.Existed {
		if err := logins.Save(); err != nil {
			return nil, failure.At("logout", err)
		}
		r.Notes = append(r.Notes, "logging out does not revoke the token: if it is still valid, "+revocation(a, login))
	}
	r.Current = logins.Current
	switch {
	case r.Current != "":
		r.Notes = append(r.Notes, "the current hub is "+r.Current)
	case len(logins.Logins) > 0:
		r.Notes = append(r.Notes, "no hub is current now; to choose one: "+a.CommandText(cmdline.Tool("login").Flag("--origin", logins.Logins[0].Origin)))
	default:
		r.Notes = append(r.Notes, "no hub is current now")
	}
	return r, nil
}

// revocation says how to revoke a token that is not stored any more.
func revocation(a *app.App, login identity.Login) string {
	if bot, err := ref.Parse(login.User); err == nil { // whose tokens are on no page
		line := cmdline.Tool("bot", "token", "revoke").With(bot.String(), pat.ID(login.Token)).Flag("--origin", login.Origin)
		return "an admin of @" + bot.Account() + " revokes it with: " + a.CommandText(line)
	}
	return "revoke it at " + login.Origin + "/tokens"
}
