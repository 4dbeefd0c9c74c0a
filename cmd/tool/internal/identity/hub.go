package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/fault"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
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

func (id *Identity) explain(err error) error {
	var e *hubclient.Error
	if !errors.As(err, &e) {
		return fault.From(err)
	}
	f := &fault.Error{Code: e.Code, Err: err, Hint: e.Hint, Status: e.Status, RequestID: e.RequestID, Current: e.Current}
	switch {
	case e.Status == http.StatusUnauthorized && id.Token == "":
		return id.NeedToken()
	case e.Status == http.StatusUnauthorized:
		f.Err = id.blame(err)
		switch {
		case id.TokenSource == FromLogin: // another's would come before what is stored
			f.Recipe = []cmdline.Line{id.loginLine()}
		case f.Hint == "":
			f.Hint = "whoever runs the hub makes another: hub token create"
		}
	case e.Status == http.StatusForbidden && id.Token != "":
		f.Err = id.blame(err)
	case e.Code == wire.CodeUnreachable && id.OriginSource == FromDefault && f.Hint == "":
		f.Hint = "no hub's address was given: name it with --origin or " + OriginVariable
	}
	return f
}

// blame adds to the refusal of a token which one it was.
func (id *Identity) blame(err error) error {
	return fmt.Errorf("%w (the token %s… of %s)", err, pat.Shown(id.Token), id.tokenPlace())
}
