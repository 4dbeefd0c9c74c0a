package api

import (
	"errors"
	"fmt"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// createCopy creates a project with the stack, the API, the config and the base files of another one: 409 if the
// name is taken.
func createCopy(c *request.Call, req *wire.CreateProject) error {
	for _, field := range []struct {
		pointer string
		given   bool
	}{{"/stack", req.Stack != ""}, {"/stackVersion", req.StackVersion != ""}, {"/api", !req.API.IsZero()}} {
		if field.given {
			return request.InvalidBody(field.pointer, "must be left out: a copy takes it from copyOf")
		}
	}
	if err := checkProject("", req.Visibility); err != nil {
		return err
	}
	owner, err := c.Permit(store.AccessQuery{Account: req.Account}, wire.Writer, wire.ScopeWriteCatalog)
	if err != nil {
		return err
	}
	source, onlyPublic, err := copySource(c, req)
	if err != nil {
		return err
	}
	bound := source.Bound
	if err := permitBindings(c, &bound); err != nil {
		return err
	}
	by, err := c.Author(string(wire.ViaCreate))
	if err != nil {
		return err
	}
	if repeated, err := c.Repeated(); repeated || err != nil {
		return err
	}
	row := store.Resource{AccountID: owner.AccountID, Account: req.Account, Slug: req.Slug, CreatedBy: c.Access.Name()}
	_, err = c.View().ResourceByName(row.Account, store.KindProject, row.Slug)
	if err == nil {
		return boundProblem(c, store.ErrExists, &store.Project{Resource: row})
	}
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	made, err := c.Hub.Store.BeginCopy(c.Ctx(), source.ID, row)
	if errors.Is(err, store.ErrNotFound) {
		return noSource(req)
	}
	if err != nil {
		return err
	}
	if req.Visibility == wire.Public {
		if err := checkPublic(made.Config.Content); err != nil {
			return err
		}
	}
	if err := c.Hub.Store.CopyBlobs(c.Ctx(), made); err != nil {
		return err
	}
	row.ID = made.ID
	return insertProject(c, row, req, bound, func(tx *store.Tx, id int64) error {
		now, err := tx.LockProject(source.ID)
		if err == nil && onlyPublic && !now.IsPublic() {
			return c.NotPermitted("", source.Account, wire.Reader)
		}
		if err == nil {
			err = tx.FinishCopy(id, made, by)
		}
		switch {
		case errors.Is(err, store.ErrNotFound):
			return noSource(req)
		case errors.Is(err, store.ErrMissing), errors.Is(err, store.ErrSize):
			return fmt.Errorf("%w: of the base files of %s: %w", store.ErrDamaged, source, err)
		}
		return err
	})
}

// copySource returns the project to copy. The caller must be a reader of it, or it must be public; onlyPublic
// says that the caller is no reader.
func copySource(c *request.Call, req *wire.CreateProject) (p store.Project, onlyPublic bool, err error) {
	query := store.AccessQuery{Account: req.CopyOf.Account(), Kind: store.KindProject, Slug: req.CopyOf.Slug()}
	a, refused := c.Permit(query, wire.Reader, "")
	if a == nil {
		return p, false, refused
	}
	id := a.Resource.ID
	if refused != nil {
		r, err := c.View().PublicProject(query.Account, query.Slug)
		if errors.Is(err, store.ErrNotFound) {
			return p, false, refused
		}
		if err != nil {
			return p, false, err
		}
		id, onlyPublic = r.ID, true
	}
	p, err = c.View().Project(id)
	if errors.Is(err, store.ErrNotFound) {
		absent := noSource(req)
		if atLeast(a.Role, wire.Writer) {
			AddDeleted(c, query, absent)
		}
		return p, false, absent
	}
	return p, onlyPublic, err
}

func noSource(req *wire.CreateProject) *request.Problem {
	return request.InvalidBody("/copyOf", "there is no project %s", req.CopyOf)
}
