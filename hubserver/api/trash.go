package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// deleteProject deletes a project, which can be restored for some time. It succeeds also if the project does not
// exist.
func deleteProject(c *request.Call) error {
	return deletion(c, wire.Deleted{Project: c.Ref()}, func(tx *store.Tx) (done request.Done, err error) {
		answer := wire.Deleted{Project: c.Ref(), Existed: true}
		if answer.RevokedTokens, err = tx.RestrictedTokens(c.Resource.ID); err != nil {
			return done, err
		}
		until, err := tx.DeleteProject(c.Resource.ID, c.Access.Name())
		answer.RestorableUntil = until.Time()
		detail := ""
		if answer.RevokedTokens > 0 {
			detail = fmt.Sprintf("revoked the tokens that were restricted to it: %d", answer.RevokedTokens)
		}
		return c.Did("project.delete", detail).With(http.StatusOK, answer), err
	})
}

// deletion is [request.Call.Write] for the deletion of what the path names. If that does not exist, or another
// request has deleted it meanwhile, it responds with none.
func deletion(c *request.Call, none any, f func(tx *store.Tx) (request.Done, error)) error {
	err := store.ErrNotFound
	if c.Resource.ID != 0 {
		err = c.Write(f)
	}
	p, ok := errors.AsType[*request.Problem](err)
	if errors.Is(err, store.ErrNotFound) || ok && p.Code == wire.CodeNotFound {
		return c.JSON(http.StatusOK, none)
	}
	return err
}

// restoreProject restores the last deleted project of the name in the path, under that name or another one.
func restoreProject(c *request.Call) error {
	var req wire.RestoreProject
	if c.R.ContentLength != 0 {
		if _, err := c.ReadJSON("the body", request.MaxJSON, &req); err != nil {
			return err
		}
	}
	if err := checkSlug("/as", req.As); err != nil {
		return err
	}
	if c.Access.Only.ResourceID != 0 { // its own project is not deleted: that would have revoked the token
		return c.NeedUnrestricted("restores nothing")
	}
	if repeated, err := c.Repeated(); repeated || err != nil { // else the first request's success would make this a 404
		return err
	}
	trashed, err := c.View().Trashed(c.Access.AccountID, store.KindProject, c.Ref().Slug())
	switch {
	case errors.Is(err, store.ErrNotFound) && req.As == "" && c.Resource.ID != 0:
		return c.JSON(http.StatusOK, wire.Restored{Project: c.Ref(), Existed: true})
	case errors.Is(err, store.ErrNotFound):
		return noDeleted(c)
	case err != nil:
		return err
	}
	slug := cmp.Or(req.As, trashed.Slug)
	as := refOf(trashed.Account, slug)
	var p store.Project
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		var previewEnded bool
		p, previewEnded, err = tx.RestoreProject(trashed, slug)
		done = request.Done{
			Account: trashed.Account, Action: "project.restore", Object: as.String(), ResourceID: trashed.ID,
			Reply: &request.Reply{Status: http.StatusOK, Body: wire.Restored{Project: as}},
		}
		if previewEnded {
			done.Detail = "the public preview ended: the API is another one"
		}
		return done, err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return noDeleted(c)
	case errors.Is(err, store.ErrExists):
		return request.Problemf(http.StatusConflict, wire.CodeProjectExists, "%s already exists", as).
			WithHint("restore it under another name: tool project restore %s --as %s-old", c.Ref(), slug)
	case errors.Is(err, store.ErrNoAPI):
		return request.Problemf(http.StatusConflict, wire.CodeAPINotFound,
			"the API %s, which %s uses, was deleted", p.API, c.Ref()).
			WithHint("register it again under this name, then restore the project")
	}
	return err
}

func noDeleted(c *request.Call) error { return request.NotFound("deleted project " + c.Ref().String()) }

// listDeleted responds with a page of the deleted projects that the caller may restore.
func listDeleted(c *request.Call, a listQuery) error {
	names, err := a.accounts(c, wire.Writer)
	if err != nil {
		return err
	}
	deleted, err := c.View().Trash(store.KindProject, names, a.after, a.limit+1)
	if err != nil {
		return err
	}
	var answer wire.DeletedProjects
	answer.Projects, answer.NextCursor = pageOf(deleted, a.limit, toDeletedProject, (*store.Trashed).String)
	return c.JSON(http.StatusOK, answer)
}

func toDeletedProject(t *store.Trashed) wire.DeletedProject {
	return wire.DeletedProject{
		Project: refTo(t.Resource), DeletedAt: t.DeletedAt.Time(), DeletedBy: t.DeletedBy,
		RestorableUntil: t.KeptUntil().Time(),
	}
}

// AddDeleted adds to a problem about a project that does not exist who has deleted it, and until when it can be
// restored. It adds nothing if the project was not deleted.
func AddDeleted(c *request.Call, project store.AccessQuery, p *request.Problem) {
	owner, err := c.AccessTo(store.AccessQuery{Account: project.Account})
	if err != nil {
		return
	}
	t, err := c.View().Trashed(owner.AccountID, store.KindProject, project.Slug)
	if err != nil {
		return
	}
	p.RestorableUntil = t.KeptUntil().Time()
	_ = p.WithHint("%s deleted it; it can be restored until %s", t.DeletedBy, request.FormatTime(p.RestorableUntil))
}
