package hubserver

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func (s *Server) createProject(c *call) error {
	var req wire.CreateProject
	body, err := c.readJSON("the body", maxJSON, &req)
	if err != nil {
		return err
	}
	row, err := newProject(&req, c.who.user)
	if err != nil {
		return err
	}
	if err := c.permit(req.Account, wire.Writer, wire.ScopeWriteCatalog); err != nil {
		return err
	}
	for _, account := range []string{row.StackAccount, row.APIAccount} {
		if err := c.permit(account, wire.Reader, ""); err != nil {
			return err
		}
	}
	return c.createOnce(body, requestDecides, func(commit func(creation) error) error {
		err := commit(func(tx *store.Tx) (reply, error) {
			if err := tx.CreateProject(c.ctx(), row); err != nil {
				return reply{}, err
			}
			project := refOf(row.Account, row.Slug)
			view, err := tx.Project(c.ctx(), project)
			if err != nil {
				return reply{}, err
			}
			return reply{
				status: http.StatusCreated,
				header: map[string]string{"Location": "/v1/projects/" + project.Path()},
				body:   s.toProject(view),
			}, c.audit(c.ctx(), tx, row.Account, "project.create", project.String(), row.StackVersion)
		})
		return createProblem(err, row)
	})
}

// newProject checks the body of a create, without a look at the store.
func newProject(req *wire.CreateProject, by string) (*store.Project, error) {
	project, err := ref.New(req.Account, req.Slug)
	if err != nil {
		pointer := "/slug"
		if !ref.ValidName(req.Account) {
			pointer = "/account"
		}
		return nil, invalidBody(pointer, "%v", err)
	}
	stack, err := ref.ParsePath(req.Stack)
	if err != nil {
		return nil, invalidBody("/stack", "%v", err)
	}
	if req.API.IsZero() {
		return nil, invalidBody("/api", "is required: {account, slug}")
	}
	if req.StackVersion == "" {
		req.StackVersion = wire.Latest
	}
	if req.StackVersion != wire.Latest && !version.Valid(req.StackVersion) {
		return nil, invalidBody("/stackVersion", "%q is neither latest nor a version such as 1.2.0", req.StackVersion)
	}
	if req.Visibility == "" {
		req.Visibility = wire.Private
	}
	if req.Visibility != wire.Private && req.Visibility != wire.Public {
		return nil, invalidBody("/visibility", "%q is neither private nor public", req.Visibility)
	}
	return &store.Project{
		Account: project.Account(), Slug: project.Slug(),
		StackAccount: stack.Account(), StackSlug: stack.Slug(), StackVersion: req.StackVersion,
		APIAccount: req.API.Account(), APISlug: req.API.Slug(),
		Visibility: string(req.Visibility), CreatedBy: by,
	}, nil
}

func createProblem(err error, row *store.Project) error {
	switch {
	case errors.Is(err, store.ErrExists):
		return problemf(http.StatusConflict, wire.CodeProjectExists, "%s already exists", refOf(row.Account, row.Slug)).
			hint("nothing was changed; push updates an existing project")
	case errors.Is(err, store.ErrStackNotPublished):
		p := problemf(http.StatusUnprocessableEntity, wire.CodeStackNotPublished,
			"the stack %s has no published version %s", refOf(row.StackAccount, row.StackSlug), row.StackVersion)
		if row.StackVersion == wire.Latest {
			p.Detail = fmt.Sprintf("the stack %s is not published", refOf(row.StackAccount, row.StackSlug))
		}
		return p.hint("publish it first")
	case errors.Is(err, store.ErrAPINotFound):
		return problemf(http.StatusUnprocessableEntity, wire.CodeAPINotFound,
			"the API %s is not registered here", refOf(row.APIAccount, row.APISlug))
	}
	return err
}

const (
	defaultPage = 50
	maxPage     = 200
)

func (s *Server) listProjects(c *call) error {
	account, after, wanted, err := c.listParameters()
	if err != nil {
		return err
	}
	filter := store.ProjectFilter{After: after, Limit: wanted + 1} // one more, to find out whether there is another page
	if filter.Accounts, err = c.listed(account); err != nil {
		return err
	}
	if account != "" {
		role, err := c.roleOn(account)
		if err != nil {
			return err
		}
		filter.PublicOnly = rank(role) < rank(wire.Reader)
	}
	answer := wire.Projects{Projects: []wire.Project{}}
	err = s.Store.Read(c.ctx(), func(v *store.View) error {
		page, err := v.Projects(c.ctx(), filter)
		for i := range page {
			answer.Projects = append(answer.Projects, s.toProject(&page[i]))
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(answer.Projects) > wanted {
		answer.Projects = answer.Projects[:wanted]
		answer.NextCursor = answer.Projects[wanted-1].Project.String()
	}
	return c.json(http.StatusOK, answer)
}

// listParameters returns which page of a list the query asks for.
func (c *call) listParameters() (account string, after ref.Ref, limit int, err error) {
	q, err := c.query()
	if err != nil {
		return "", after, 0, err
	}
	if account = q.Get("account"); account != "" && !ref.ValidName(account) {
		return "", after, 0, invalidBody("", "%q is not an account: an account is %s", account, ref.Rule)
	}
	limit = defaultPage
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxPage {
			return "", after, 0, invalidBody("", "limit must be a number from 1 to %d, not %q", maxPage, text)
		}
	}
	if text := q.Get("cursor"); text != "" {
		if after, err = ref.Parse(text); err != nil {
			return "", after, 0, invalidBody("", "invalid cursor: send the nextCursor of a page")
		}
	}
	return account, after, limit, nil
}

// listed returns the accounts of a list: account, or without it those on which the
// caller has a role.
func (c *call) listed(account string) (names []string, err error) {
	if account != "" {
		return []string{account}, nil
	}
	roles, err := c.accounts()
	for _, r := range roles {
		names = append(names, r.Account)
	}
	return names, err
}

func (s *Server) getProject(c *call) error {
	view, err := c.project()
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, s.toProject(view))
}

// project returns the project that the path names, 404 if it does not exist.
func (c *call) project() (view *store.ProjectView, err error) {
	err = c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		view, err = v.Project(c.ctx(), c.ref())
		return err
	})
	return view, absent(err, "project "+c.ref().String())
}

// absent turns a missing row into a 404 that names what.
func absent(err error, what string) error {
	if errors.Is(err, store.ErrNotFound) {
		return notFound(what)
	}
	return err
}

func (s *Server) deleteProject(c *call) error {
	size, err := c.baseSetSize()
	if err != nil {
		return err
	}
	if err := c.takeAtMost(changing, setCost*size); err != nil {
		return err
	}
	answer := wire.Deleted{Project: c.ref()}
	err = c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		if answer.Existed, err = tx.DeleteProject(c.ctx(), c.ref()); err != nil || !answer.Existed {
			return err
		}
		return c.audit(c.ctx(), tx, c.ref().Account(), "project.delete", c.ref().String(), "")
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, answer)
}
