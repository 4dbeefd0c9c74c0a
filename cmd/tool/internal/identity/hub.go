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
	refused := f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden
	switch {
	case f.Token != "": // it is explained
	case f.Status == http.StatusUnauthorized && id.Token == "":
		return failure.Of(id.NeedToken()).At(f.Stage)
	case refused && id.Token != "":
		f.Token = id.TokenPlace()
		f = f.WithReason("%w (the token %s… of %s)", f.Reason, pat.Shown(id.Token), f.Token)
		switch {
		case f.Status == http.StatusForbidden: // another token of the same user would not do
		case id.TokenSource == FromLogin: // another's would come before what is stored
			f.Recipe = []cmdline.Line{id.loginLine()}
		case f.Hint == "":
			f.Hint = "create another on the hub's page /tokens, or remove it and run tool login"
		}
	case f.Hint != "":
	case f.Code == hubclient.CodeUnreachable:
		f.Hint = id.checkOrigin()
	case f.Code == hubclient.CodeTimeout:
		f.Hint = "try again, or wait longer with --timeout"
	}
	return f
}

// checkOrigin says where the address of a hub that cannot be reached is written.
func (id *Identity) checkOrigin() string {
	place := "the address given by --origin, " + OriginVariable + " or the login"
	switch {
	case id.OriginSource == FromDefault:
		return "no hub's address was given: name it with --origin or " + OriginVariable
	case id.OriginSource == FromEnvFile:
		place = "the origin in the environment's file (client.ENV.json)"
	case id.Origin == id.Workspace && id.OriginSource != FromFlag && id.OriginSource != FromEnvironment:
		place = "the origin in .tool/hub.json"
	}
	return "check that the hub is running, and " + place
}
