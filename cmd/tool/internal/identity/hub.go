package identity

import (
	"context"
	"errors"
	"net/http"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
)

// Hub is a client with the identity that it was made of, which explains its failures.
type Hub struct {
	*hubclient.Client
	Identity *Identity
}

// Connect returns a client for the identity's hub. opts' Origin and Token are
// filled in. Nothing is sent yet.
func (id *Identity) Connect(opts hubclient.Options) (*Hub, error) {
	if id.Token != "" && !pat.Valid(id.Token) {
		return nil, id.malformed("is damaged") // a stored one: Resolve checks the others
	}
	opts.Origin, opts.Token = id.Origin, id.Token
	client, err := hubclient.New(opts)
	if err != nil {
		return nil, id.explain(err)
	}
	return &Hub{Client: client, Identity: id}, nil
}

// Fault turns the error of a call into a failure that says what to do.
func (h *Hub) Fault(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return h.Identity.explain(err)
}

// explain adds to a failure what the identity knows of its cause. Explaining one twice
// changes nothing.
func (id *Identity) explain(err error) failure.Failure {
	f := failure.Of(err)
	if f.Token != "" { // set by explainRefusal
		return f
	}
	unauthorized := f.Status == http.StatusUnauthorized
	if unauthorized && id.Token == "" {
		return failure.Of(id.NeedToken()).At(f.Stage)
	}
	if id.Token != "" && (unauthorized || f.Status == http.StatusForbidden) {
		return id.explainRefusal(f)
	}
	if f.Hint != "" {
		return f
	}
	switch f.Code {
	case hubclient.CodeUnreachable:
		f.Hint = id.checkOrigin()
	case hubclient.CodeTimeout:
		f.Hint = "try again, or wait longer with --timeout"
	}
	return f
}

// explainRefusal adds which token the hub refused, and where to get another one. After a 403
// it adds only the former, because another token of the same user would be refused, too; nothing
// where the user's role is too low, which no token changes.
func (id *Identity) explainRefusal(f failure.Failure) failure.Failure {
	f.Token = id.TokenPlace()
	if f.Code == wire.CodeNotPermitted {
		return f
	}
	f = f.WithReason("%w (the token %s… of %s)", f.Reason, pat.Shown(id.Token), f.Token)
	if f.Status == http.StatusForbidden {
		return f
	}
	if id.TokenSource == FromLogin { // a token that is given would be used before a new login
		f.Recipe = []cmdline.Line{id.loginLine()}
	} else if f.Hint == "" {
		f.Hint = "create another on the hub's page /tokens, or remove it and run tool login"
	}
	return f
}

// checkOrigin says where the address of a hub that cannot be reached is written.
func (id *Identity) checkOrigin() string {
	switch id.OriginSource {
	case FromDefault:
		return "no hub's address was given: name it with --origin or " + OriginVariable
	case FromEnvFile:
		return "check that the hub is running, and the origin in the environment's file (client.ENV.json)"
	}
	given := id.OriginSource == FromFlag || id.OriginSource == FromEnvironment
	if id.Origin == id.Workspace && !given {
		return "check that the hub is running, and the origin in .tool/hub.json"
	}
	return "check that the hub is running, and the address given by --origin, " + OriginVariable + " or the login"
}
