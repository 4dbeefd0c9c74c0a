package create

import (
	"context"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// preflight finds out what is known of a local project and its hub, and changes nothing.
// It fails where a create could not succeed whatever the answers are.
func (c *create) preflight(ctx context.Context) (*prompts.Preflight, error) {
	s, err := c.look(ctx)
	if err != nil {
		return nil, c.fail(failure.At(app.StageCreate, c.explain(err)))
	}
	return s, nil
}

func (c *create) look(ctx context.Context) (*prompts.Preflight, error) {
	s := &prompts.Preflight{}
	if err := c.lookHere(s); err != nil {
		return nil, err
	}
	var err error
	if c.hub, err = c.app.Connect(); err != nil {
		return nil, err
	}
	s.Origin = c.hub.Origin()
	if err := c.checkRecordable(); err != nil {
		return nil, err
	}
	me, err := c.hub.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	s.As = me.Name()
	if !me.Has(wire.ScopeWriteCatalog) {
		return nil, missingScope(me)
	}
	for _, a := range me.Accounts {
		if me.Writes(a.Account) {
			s.Accounts = append(s.Accounts, a.Account)
		}
	}
	stack, err := c.hub.Stack(ctx, c.stack)
	if app.IsNotFound(err) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	s.Latest = stack.Latest
	for _, v := range stack.Versions {
		s.Versions = append(s.Versions, v.Version)
		if !v.WithdrawnAt.IsZero() {
			s.Withdrawn = append(s.Withdrawn, v.Version)
		}
	}
	return s, nil
}

// lookHere looks at the files of the local project.
func (c *create) lookHere(s *prompts.Preflight) (err error) {
	if c.client, err = c.local.Client(); err != nil {
		return failure.At(app.StageRead, err)
	}
	if _, _, err := app.ReadConfig(c.client); err != nil {
		return failure.At(app.StageRead, err)
	}
	stack, err := c.local.Stack()
	if err != nil {
		return failure.At(app.StageStack, err)
	}
	if c.stack, err = stack.Name(); err != nil {
		return failure.At(app.StageStack, err)
	}
	s.Stack = c.stack
	s.Here, _ = stack.Version()
	switch err := c.readAPI(context.Background()); {
	case err == nil:
		s.API = c.api
	case c.client.API.Present():
		return failure.At(app.StageAPI, err)
	default:
		s.Missing = err.Error()
	}
	s.Source = c.client.Source.Text
	return nil
}
