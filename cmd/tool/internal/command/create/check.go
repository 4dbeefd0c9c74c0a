package create

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// check asks the hub all that would make the create fail, so that a doomed one
// registers no API and leaves nothing behind. Its failures are what the creation
// itself would answer.
func (c *create) check(ctx context.Context) (err error) {
	if c.hub, err = c.app.Connect(); err != nil {
		return err
	}
	c.result.Origin = c.hub.Origin()
	if err := c.checkRecordable(); err != nil {
		return err
	}
	if err := c.checkAccount(ctx); err != nil {
		return err
	}
	if err := c.checkFree(ctx); err != nil {
		return err
	}
	if err := c.checkStack(ctx); err != nil {
		return err
	}
	if c.api.IsZero() {
		return nil
	}
	if _, err := c.hub.API(ctx, c.api); err != nil {
		if app.IsNotFound(err) {
			err = failure.Failure{Code: wire.CodeAPINotFound, Status: http.StatusUnprocessableEntity,
				Reason: fmt.Errorf("the API %s is not registered on %s", c.api, c.hub.Origin())}
		}
		return failure.At(app.StageAPI, c.explain(err))
	}
	return nil
}

// checkRecordable reports whether what is to be recorded in client.json could be.
func (c *create) checkRecordable() error {
	if c.client.Project.Present() && c.client.API.Present() {
		return nil
	}
	if err := c.client.CheckWritable(); err != nil {
		return failure.Of(err).WithHint("nothing was created: make it writable, because the new project is recorded there")
	}
	return nil
}

// checkAccount asks whether the caller may create projects in the account.
func (c *create) checkAccount(ctx context.Context) error {
	me, err := c.hub.Whoami(ctx)
	if err != nil {
		return err
	}
	account := c.project.Account()
	switch {
	case !me.Has(wire.ScopeWriteCatalog): // in the order in which the hub would refuse
		return missingScope(me)
	case !me.Writes(account):
		e := &hubclient.Error{Code: wire.CodeNotPermitted, Status: http.StatusForbidden,
			Detail: fmt.Sprintf("%s may not write to %s", me.Name(), account),
			Hint: fmt.Sprintf("if %s is an org, an admin of it can allow it: %s", account,
				cmdline.Tool("member", "set").With(account, me.Name()).Flag("--role", "writer"))}
		if slices.ContainsFunc(me.Accounts, func(a wire.AccountRole) bool { return a.Account == account }) {
			e.Detail += "; the role is reader"
		}
		return e
	}
	return nil
}

func missingScope(me *wire.Whoami) error {
	return &hubclient.Error{Code: wire.CodeMissingScope, Status: http.StatusForbidden,
		Detail: fmt.Sprintf("the token lacks the scope %s", wire.ScopeWriteCatalog),
		Hint:   "log in again with tool login, or create a token that has it on the hub's page /tokens"}
}

// checkFree asks whether the slug is free.
func (c *create) checkFree(ctx context.Context) error {
	_, err := c.hub.Project(ctx, c.project)
	switch {
	case app.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return failure.Failure{Code: wire.CodeProjectExists, Status: http.StatusConflict, Reason: fmt.Errorf("%s already exists", c.project)}
}

// checkStack asks whether the stack version is published.
func (c *create) checkStack(ctx context.Context) error {
	stack, err := c.hub.Stack(ctx, c.stack)
	if app.IsNotFound(err) {
		return c.notPublished(nil)
	}
	if err != nil {
		return err
	}
	var usable []string
	for _, v := range stack.Versions {
		if v.Version == c.answers.StackVersion {
			return nil // a note says so if it was withdrawn
		}
		if v.WithdrawnAt.IsZero() {
			usable = append(usable, v.Version)
		}
	}
	if c.answers.StackVersion != wire.Latest {
		return c.notPublished(usable)
	}
	return nil
}

// maxVersions bounds how many versions a hint lists.
const maxVersions = 5

// notPublished says what to do about a stack that has no such version. Published are the
// ones that were not withdrawn.
func (c *create) notPublished(published []string) error {
	e := failure.Failure{Code: wire.CodeStackNotPublished, Status: http.StatusUnprocessableEntity}
	if c.answers.StackVersion == wire.Latest {
		e.Reason = fmt.Errorf("the stack %s is not published", c.stack)
	} else {
		e.Reason = fmt.Errorf("the stack %s has no published version %s", c.stack, c.answers.StackVersion)
	}
	if len(published) > 0 {
		e.Hint = "the newest are " + strings.Join(published[:min(maxVersions, len(published))], ", ")
	}
	return e
}
