package identity

import (
	"context"
	"errors"
	"net/http"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
)

// Hub is a client that speaks as an identity, and explains its failures by it.
type Hub struct {
	*hubclient.Client
	Identity *Identity
}

// Connect returns a client for the identity's hub. opts' Origin and Token are
// filled in. Nothing is sent yet.
func (id *Identity) Connect(opts hubclient.Options) (*Hub, error) {
	if id.Token != "" && !pat.Valid(id.Token) {
		return nil, id.malformed("is damaged") // only a stored one gets here
	}
	opts.Origin, opts.Token = id.Origin, id.Token
	client, err := hubclient.New(opts)
	if err != nil {
		return nil, id.explain(err)
	}
	return &Hub{client, id}, nil
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
	switch {
	case f.Token != "":
	case f.Status == http.StatusUnauthorized && id.Token == "":
		return id.needToken().At(f.Stage)
	case f.Status == http.StatusUnauthorized:
		f = id.blame(f)
		switch {
		case id.TokenSource == FromLogin: // another's would come before what is stored
			f.Recipe = []cmdline.Line{id.loginLine()}
		case f.Hint == "":
			f.Hint = "create another on the hub's page /tokens, or remove it and run tool login"
		}
	case f.Status == http.StatusForbidden && id.Token != "":
		f = id.blame(f)
	case f.Code == hubclient.CodeUnreachable && id.OriginSource == FromDefault && f.Hint == "":
		f.Hint = "no hub's address was given: name it with --origin or " + OriginVariable
	case f.Code == hubclient.CodeUnreachable && f.Hint == "" && id.OriginSource == FromEnvFile:
		f.Hint = "check that the hub is running, and the origin in the environment's file (client.ENV.json)"
	case f.Code == hubclient.CodeUnreachable && f.Hint == "" && id.OriginSource != FromFlag && id.OriginSource != FromEnvironment && id.Origin == id.Workspace:
		f.Hint = "check that the hub is running, and the origin in .tool/hub.json"
	case f.Code == hubclient.CodeUnreachable && f.Hint == "":
		f.Hint = "check that the hub is running, and the address given by --origin, " + OriginVariable + " or the login"
	case f.Code == hubclient.CodeTimeout && f.Hint == "":
		f.Hint = "try again, or wait longer with --timeout"
	}
	return f
}

// blame adds to the refusal of a token which one it was.
func (id *Identity) blame(f failure.Failure) failure.Failure {
	f.Token = id.TokenPlace()
	return f.WithReason("%w (the token %s… of %s)", f.Reason, pat.Shown(id.Token), f.Token)
}
