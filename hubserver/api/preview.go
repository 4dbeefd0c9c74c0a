package api

import (
	"errors"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// previewStack responds with a tar of the files of the project's stack version, or with ?version= of another
// version of its stack.
func previewStack(c *request.Call, p store.Project) error {
	number, isPublic := p.ResolvedVersion(), p.PublicPreview
	if other := c.R.URL.Query().Get("version"); other != "" && other != number {
		number, isPublic = other, false
	}
	if err := mayPreview(c, "stack", p.Stack, isPublic); err != nil {
		return err
	}
	v, err := versionOf(c, p.Stack.ID, p.Stack.String(), number)
	if err != nil {
		return err
	}
	c.W.Header().Set("Stack-Version", number)
	return sendVersion(c, p.Stack.ID, &v)
}

func previewAPI(c *request.Call, p store.Project) error {
	if err := mayPreview(c, "API", p.API, p.PublicPreview); err != nil {
		return err
	}
	a, err := c.View().API(p.API.ID)
	if errors.Is(err, store.ErrNotFound) {
		return request.NotFound("API " + p.API.String())
	}
	if err != nil {
		return err
	}
	return sendContent(c, a.ID, a.JSON, a.Document)
}

// mayPreview returns a 403 unless the caller may read the stack or the API of a project, bound, in its preview:
// by a role on bound's account, or because the project's preview is public and that account is not disabled.
func mayPreview(c *request.Call, what string, bound store.Resource, isPublic bool) error {
	if isPublic {
		if owner, err := c.View().Account(bound.Account); err != nil || owner.DisabledAt == 0 {
			return err
		}
	}
	a, err := c.AccessTo(store.AccessQuery{Account: bound.Account})
	if err != nil || atLeast(a.Role, wire.Reader) {
		return err
	}
	return request.Forbidden("the preview needs the %s %s, which %s may not read", what, bound, c.Access.Name()).
		WithHint("ask an admin of %s for the role reader", bound.Account)
}
