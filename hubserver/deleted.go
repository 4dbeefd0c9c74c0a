package hubserver

import (
	"errors"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// deleteProject deletes a project, which can be restored for some time. It is not a failure
// if there is none.
func (s *Server) deleteProject(c *call) error {
	size, err := c.baseSetSize() // one that expires is purged at once
	if err != nil {
		return err
	}
	if err := c.takeAtMost(changing, setCost*size); err != nil {
		return err
	}
	answer := wire.Deleted{Project: c.ref()}
	err = c.transact(c.ctx(), func(tx *store.Tx) error {
		until, err := tx.DeleteProject(c.ctx(), c.ref(), c.who.user)
		answer.Existed, answer.RestorableUntil = err == nil, until.Time()
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return c.audit(c.ctx(), tx, c.ref().Account(), "project.delete", c.ref().String(), "")
	})
	if err != nil {
		return err
	}
	s.watches.wrote(c.ref())
	return c.json(http.StatusOK, answer)
}

func (s *Server) restoreProject(c *call) error {
	answer := wire.Restored{Project: c.ref()}
	var row *store.RestoredProject
	err := c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		if row, err = tx.RestoreProject(c.ctx(), c.ref()); err != nil {
			return err
		}
		if answer.Existed = !row.WasDeleted; answer.Existed {
			return nil
		}
		detail := ""
		if row.PreviewEnded {
			detail = "the public preview ended: the API is another one"
		}
		return c.audit(c.ctx(), tx, c.ref().Account(), "project.restore", c.ref().String(), detail)
	})
	if errors.Is(err, store.ErrAPINotFound) {
		return problemf(http.StatusConflict, wire.CodeAPINotFound, "the API %s, which %s uses, was deleted", refOf(row.APIAccount, row.APISlug), c.ref()).
			hint("register it again under this name, then restore the project")
	}
	if err != nil {
		return absent(err, "deleted project "+c.ref().String())
	}
	s.watches.wrote(c.ref())
	return c.json(http.StatusOK, answer)
}

// listDeleted responds with the deleted projects that the caller's roles allow to restore.
func (s *Server) listDeleted(c *call) error {
	account, after, wanted, err := c.listParameters()
	if err != nil {
		return err
	}
	accounts := []string{account}
	if account != "" {
		err = c.permit(account, wire.Writer, "")
	} else {
		accounts, err = c.writable()
	}
	if err != nil {
		return err
	}
	page, err := lookUp(c, func(v *store.View) ([]store.DeletedProject, error) {
		return v.DeletedProjects(c.ctx(), accounts, after, wanted+1) // one more, to find out whether there is another page
	})
	if err != nil {
		return err
	}
	answer := wire.DeletedProjects{Projects: []wire.DeletedProject{}}
	if len(page) > wanted {
		page = page[:wanted]
		answer.NextCursor = refOf(page[wanted-1].Account, page[wanted-1].Slug).String()
	}
	for _, d := range page {
		answer.Projects = append(answer.Projects, wire.DeletedProject{
			Project: refOf(d.Account, d.Slug), DeletedAt: d.DeletedAt.Time(), DeletedBy: d.DeletedBy, RestorableUntil: d.KeptUntil.Time(),
		})
	}
	return c.json(http.StatusOK, answer)
}

// writable returns the accounts on which the caller is at least a writer.
func (c *call) writable() (names []string, err error) {
	roles, err := c.accounts()
	for _, r := range roles {
		if rank(r.Role) >= rank(wire.Writer) {
			names = append(names, r.Account)
		}
	}
	return names, err
}

// noProject turns a missing row into a 404 about the project that the path names. Those
// who may restore the project learn that it was deleted.
func (c *call) noProject(err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return c.addDeleted(notFound("project "+c.ref().String()), c.ref())
}

// addDeleted adds to a problem about a project that does not exist that it was deleted, for
// those who may restore it.
func (c *call) addDeleted(p *problem, r ref.Ref) *problem {
	role, err := c.roleIn(store.Restriction{OnlyAccount: r.Account(), OnlySlug: r.Slug()})
	if err != nil || rank(role) < rank(wire.Writer) {
		return p
	}
	d, err := lookUp(c, func(v *store.View) (*store.DeletedProject, error) { return v.Deleted(c.ctx(), r) })
	if err != nil {
		return p
	}
	p.RestorableUntil = d.KeptUntil.Time()
	return p.hint("%s deleted it; it can be restored until %s", d.DeletedBy, formatTime(d.KeptUntil.Time()))
}
