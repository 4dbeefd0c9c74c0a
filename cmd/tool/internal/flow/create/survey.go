package create

import (
	"context"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Survey is what is known before a create is decided on.
type Survey struct {
	Origin    string
	As        string   // whom the token belongs to
	Accounts  []string // that the caller may write to
	Stack     ref.Ref
	Version   string   // in stack.json, "" for none
	Published []string // versions, newest first
	Latest    string
	API       ref.Ref // client.json's, or zero
	Source    string  // of the API, where client.json names none
	Missing   string  // why Source cannot be registered, "" when it can
}

// Look surveys a local project and its hub, and changes nothing. It uses of o what
// does not depend on answers. It fails where a create could not succeed whatever
// the answers are.
func Look(ctx context.Context, o Options) (*Survey, error) {
	c := &create{Options: o}
	s, err := c.look(ctx)
	if err != nil {
		return nil, c.fail(failure.At(flow.StageCreate, c.explain(err)))
	}
	return s, nil
}

func (c *create) look(ctx context.Context) (*Survey, error) {
	s := &Survey{}
	if err := c.lookHere(s); err != nil {
		return nil, err
	}
	var err error
	if c.hub, err = c.Connect(); err != nil {
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
	if flow.IsNotFound(err) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	s.Latest = stack.Latest
	for _, v := range stack.Versions {
		s.Published = append(s.Published, v.Version)
	}
	return s, nil
}

// lookHere surveys the files of the local project.
func (c *create) lookHere(s *Survey) (err error) {
	if c.client, err = flow.ReadClient(c.Local, c.Warn); err != nil {
		return failure.At(flow.StageRead, err)
	}
	if _, _, err := flow.ReadConfig(c.client); err != nil {
		return failure.At(flow.StageRead, err)
	}
	stack, err := c.Local.Stack()
	if err != nil {
		return failure.At(flow.StageStack, err)
	}
	if c.stack, err = stack.Name(); err != nil {
		return failure.At(flow.StageStack, err)
	}
	s.Stack = c.stack
	s.Version, _ = stack.Version()
	switch err := c.readAPI(context.Background()); {
	case err == nil:
		s.API = c.api
	case c.client.API.Present():
		return failure.At(flow.StageAPI, err)
	default:
		s.Missing = err.Error()
	}
	s.Source = c.client.Source.Text
	return nil
}
