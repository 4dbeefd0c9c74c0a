package hubserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/store"
)

// putDocument replaces the description of a registered API: by the body, or by what the
// address of the parameter url has.
func (s *Server) putDocument(c *call) error {
	if err := c.needAPI(); err != nil {
		return err
	}
	u, err := c.newDocument()
	if err != nil {
		return err
	}
	row, document, findings, err := c.described(u)
	if err != nil {
		return err
	}
	row.UpdatedBy = c.who.user
	err = c.transact(c.ctx(), func(tx *store.Tx) error {
		changed, err := tx.UpdateAPI(c.ctx(), c.ref(), row, document)
		if err != nil || !changed {
			return err
		}
		return c.audit(c.ctx(), tx, c.ref().Account(), "api.update", c.ref().String(), row.SHA256)
	})
	if err != nil {
		return absent(err, "API "+c.ref().String())
	}
	return c.json(http.StatusOK, withFindings(row, findings))
}

// needAPI is a 404 unless the API that the path names is registered.
func (c *call) needAPI() error {
	_, err := lookUp(c, func(v *store.View) (*store.API, error) { return v.API(c.ctx(), c.ref()) })
	return absent(err, "API "+c.ref().String())
}

func (c *call) newDocument() (u received, err error) {
	q, err := c.query()
	if err != nil {
		return u, err
	}
	if u.strict, err = isStrict(q); err != nil {
		return u, err
	}
	address := q.Get("url")
	if address == "" {
		u.name = q.Get("name")
		u.data, err = c.readDescription()
		return u, err
	}
	if err := fetch.CheckURL(address); err != nil {
		return u, fetchProblem(err)
	}
	u.name = fileOf(address)
	u.data, err = c.fetchDescription(c.ref().Account(), address)
	return u, err
}

func (s *Server) deleteAPI(c *call) error {
	answer := wire.DeletedAPI{API: c.ref()}
	err := c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		if answer.Existed, err = tx.DeleteAPI(c.ctx(), c.ref()); err != nil || !answer.Existed {
			return err
		}
		return c.audit(c.ctx(), tx, c.ref().Account(), "api.delete", c.ref().String(), "")
	})
	if errors.Is(err, store.ErrAPIInUse) {
		return c.apiInUse(c.ref())
	}
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, answer)
}

// mostUsers bounds how many projects a problem lists that use an API.
const mostUsers = 50

// apiInUse is the problem of a deletion of an API that projects use. It names those that the
// caller may see.
func (c *call) apiInUse(api ref.Ref) error {
	roles, err := c.accounts()
	if err != nil {
		return err
	}
	users, err := lookUp(c, func(v *store.View) ([]store.ProjectView, error) { return v.ProjectsUsing(c.ctx(), api, mostUsers+1) })
	if err != nil {
		return err
	}
	p := problemf(http.StatusConflict, wire.CodeAPIInUse, "projects use %s", api)
	hidden := 0
	for _, u := range users[:min(mostUsers, len(users))] {
		mine := slices.ContainsFunc(roles, func(r wire.AccountRole) bool { return r.Account == u.Account })
		if !mine && !u.IsPublic() {
			hidden++
			continue
		}
		p.Errors = append(p.Errors, wire.FieldError{Detail: refOf(u.Account, u.Slug).String()})
	}
	if hidden > 0 {
		p.Errors = append(p.Errors, wire.FieldError{Detail: fmt.Sprintf("%d that you cannot see", hidden)})
	}
	if len(users) > mostUsers {
		p.Errors = append(p.Errors, wire.FieldError{Detail: "and more"})
	}
	if len(p.Errors) == 1 {
		p.Detail = fmt.Sprintf("%s is used by %s", api, p.Errors[0].Detail)
	}
	return p.hint("nothing was deleted: change the API of these projects, or delete them")
}
