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
	q, err := c.query()
	if err != nil {
		return err
	}
	filter := store.ProjectFilter{Limit: defaultPage}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return invalidBody("", "limit must be a number from 1 to %d, not %q", maxPage, text)
		}
		filter.Limit = n
	}
	if text := q.Get("cursor"); text != "" {
		after, err := ref.Parse(text)
		if err != nil {
			return invalidBody("", "invalid cursor: send the nextCursor of a page")
		}
		filter.After = after
	}
	if err := c.listScope(&filter, q.Get("account")); err != nil {
		return err
	}
	wanted := filter.Limit
	filter.Limit++ // one more, to find out whether there is another page
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

// listScope restricts a list to what the caller may see: without an account, to those
// on which the caller has a role; without a role on the account, to public projects.
func (c *call) listScope(f *store.ProjectFilter, account string) error {
	if account != "" {
		if !ref.ValidName(account) {
			return invalidBody("", "%q is not an account: an account is %s", account, ref.Rule)
		}
		role, err := c.roleOn(account)
		f.Accounts, f.PublicOnly = []string{account}, rank(role) < rank(wire.Reader)
		return err
	}
	roles, err := c.accounts()
	for _, r := range roles {
		f.Accounts = append(f.Accounts, r.Account)
	}
	return err
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
