package hubserver

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

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
	if !req.CopyOf.IsZero() {
		return s.createCopy(c, body, &req)
	}
	row, err := newProject(&req, c.who.user)
	if err != nil {
		return err
	}
	if err := c.permit(req.Account, wire.Writer, wire.ScopeWriteCatalog); err != nil {
		return err
	}
	if err := c.permitBindings(row); err != nil {
		return err
	}
	return s.insertProject(c, body, row, req.ExpiresAt, func(*store.Tx) error { return nil })
}

// permitBindings refuses a project whose stack or API the caller may not read.
func (c *call) permitBindings(row *store.Project) error {
	for _, account := range []string{row.StackAccount, row.APIAccount} {
		if err := c.permit(account, wire.Reader, ""); err != nil {
			return err
		}
	}
	return nil
}

// insertProject creates a project, and fills it in the same transaction.
func (s *Server) insertProject(c *call, body []byte, row *store.Project, expiresAt time.Time, fill func(*store.Tx) error) error {
	project := refOf(row.Account, row.Slug)
	return c.createOnce(body, requestDecides, func(commit func(creation) error) error {
		err := commit(func(tx *store.Tx) (reply, error) {
			if err := tx.CreateProject(c.ctx(), row); err != nil {
				return reply{}, err
			}
			if err := c.expire(tx, project, expiresAt); err != nil {
				return reply{}, err
			}
			if err := fill(tx); err != nil {
				return reply{}, err
			}
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

// expire has the hub delete a new project at a time; the zero time: never.
func (c *call) expire(tx *store.Tx, project ref.Ref, at time.Time) error {
	if at.IsZero() {
		return nil
	}
	now, err := tx.Now(c.ctx())
	if err != nil {
		return err
	}
	if store.At(at) <= now {
		return invalidBody("/expiresAt", "%s has passed", formatTime(at))
	}
	return tx.Expire(c.ctx(), project, store.At(at))
}

// newName checks the name of a new project.
func newName(req *wire.CreateProject) (ref.Ref, error) {
	project, err := ref.New(req.Account, req.Slug)
	if err != nil {
		pointer := "/slug"
		if !ref.ValidName(req.Account) {
			pointer = "/account"
		}
		return project, invalidBody(pointer, "%v", err)
	}
	return project, nil
}

// newProject checks the body of a create, without a look at the store.
func newProject(req *wire.CreateProject, by string) (*store.Project, error) {
	project, err := newName(req)
	if err != nil {
		return nil, err
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
	if req.Visibility == "" {
		req.Visibility = wire.Private
	}
	if err := checkProject(req.StackVersion, req.Visibility); err != nil {
		return nil, err
	}
	return &store.Project{
		Account: project.Account(), Slug: project.Slug(),
		StackAccount: stack.Account(), StackSlug: stack.Slug(), StackVersion: req.StackVersion,
		APIAccount: req.API.Account(), APISlug: req.API.Slug(),
		Visibility: string(req.Visibility), CreatedBy: by,
	}, nil
}

func checkProject(stackVersion string, visibility wire.Visibility) error {
	if stackVersion != wire.Latest && !version.Valid(stackVersion) {
		return invalidBody("/stackVersion", "%q is neither latest nor a version such as 1.2.0", stackVersion)
	}
	if visibility != wire.Private && visibility != wire.Public {
		return invalidBody("/visibility", "%q is neither private nor public", visibility)
	}
	return nil
}

func createProblem(err error, row *store.Project) error {
	switch {
	case errors.Is(err, store.ErrExists):
		return problemf(http.StatusConflict, wire.CodeProjectExists, "%s already exists", refOf(row.Account, row.Slug)).
			hint("nothing was changed; push updates an existing project")
	case errors.Is(err, store.ErrDeleted):
		project := refOf(row.Account, row.Slug)
		return problemf(http.StatusConflict, wire.CodeProjectDeleted, "%s was deleted, and its name is reserved for it while it can be restored", project).
			hint("restore it, or use another name: tool project restore %s", project)
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
	if err := c.addOnly(&filter, account); err != nil {
		return err
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

// addOnly has a list of an account's projects, or of all with "", show the one to which the
// caller's token is restricted.
func (c *call) addOnly(f *store.ProjectFilter, account string) error {
	if c.who == nil || c.who.only.OnlySlug == "" || account != "" && account != c.who.only.OnlyAccount {
		return nil
	}
	role, err := c.roleIn(c.who.only)
	if err == nil && rank(role) >= rank(wire.Reader) {
		f.Accounts, f.PublicOnly, f.Also = []string{c.who.only.OnlyAccount}, true, c.who.only.OnlySlug
	}
	return err
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
	if limit, err = pageLimit(q); err != nil {
		return "", after, 0, err
	}
	if text := q.Get("cursor"); text != "" {
		if after, err = ref.Parse(text); err != nil {
			return "", after, 0, invalidBody("", "invalid cursor: send the nextCursor of a page")
		}
	}
	return account, after, limit, nil
}

// pageLimit returns how many items the query asks for.
func pageLimit(q url.Values) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return defaultPage, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxPage {
		return 0, invalidBody("", "limit must be a number from 1 to %d, not %q", maxPage, text)
	}
	return limit, nil
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
	view, err = lookUp(c, func(v *store.View) (*store.ProjectView, error) { return v.Project(c.ctx(), c.ref()) })
	return view, c.noProject(err)
}

// absent turns a missing row into a 404 that names what.
func absent(err error, what string) error {
	if errors.Is(err, store.ErrNotFound) {
		return notFound(what)
	}
	return err
}

func (s *Server) editProject(c *call) error {
	if _, err := c.project(); err != nil {
		return err
	}
	var req wire.EditProject
	if _, err := c.readJSON("the body", maxJSON, &req); err != nil {
		return err
	}
	view, err := c.applyEdit(&req)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, s.toProject(view))
}

// errEdited ends the transaction of an edit when the project is no longer what the caller
// was permitted to change.
var errEdited = errors.New("the project was edited meanwhile")

// maxEdits bounds how often an edit is tried because somebody else made one meanwhile.
const maxEdits = 5

// applyEdit changes the project that the path names. Who binds another version or API
// needs the role reader on its account, as for creating the project.
func (c *call) applyEdit(req *wire.EditProject) (view *store.ProjectView, err error) {
	if err := checkProject(cmp.Or(req.StackVersion, wire.Latest), cmp.Or(req.Visibility, wire.Private)); err != nil {
		return nil, err
	}
	for range maxEdits {
		if view, err = c.tryEdit(req); !errors.Is(err, errEdited) {
			return view, err
		}
	}
	return nil, problemf(http.StatusServiceUnavailable, wire.CodeUnavailable, "others keep editing %s", c.ref()).with("Retry-After", "1")
}

func (c *call) tryEdit(req *wire.EditProject) (*store.ProjectView, error) {
	before, err := c.project()
	if err != nil {
		return nil, err
	}
	if req.StackVersion != "" && req.StackVersion != before.StackVersion {
		if err := c.permit(before.StackAccount, wire.Reader, ""); err != nil {
			return nil, err
		}
	}
	if !req.API.IsZero() && req.API != refOf(before.APIAccount, before.APISlug) {
		if err := c.permit(req.API.Account(), wire.Reader, ""); err != nil {
			return nil, err
		}
	}
	after := *before
	if after.PublicPreview, err = c.publicPreview(req, before); err != nil {
		return nil, err
	}
	if req.EnforceSchema != nil && *req.EnforceSchema != before.EnforceSchema {
		after.EnforceSchema = *req.EnforceSchema
		if err := c.permitProject(c.ref().Account(), wire.Admin, ""); err != nil {
			return nil, err
		}
	}
	after.Visibility = cmp.Or(string(req.Visibility), before.Visibility)
	after.StackVersion = cmp.Or(req.StackVersion, before.StackVersion)
	if !req.API.IsZero() {
		after.APIAccount, after.APISlug = req.API.Account(), req.API.Slug()
	}
	var view *store.ProjectView
	err = c.transact(c.ctx(), func(tx *store.Tx) error {
		if err := c.saveEdited(tx, before, &after); err != nil {
			return err
		}
		view, err = tx.Project(c.ctx(), c.ref())
		return err
	})
	return view, c.noProject(createProblem(err, &after.Project))
}

// saveEdited makes a project that is still what before says what after says.
func (c *call) saveEdited(tx *store.Tx, before, after *store.ProjectView) error {
	now := &store.ProjectView{}
	changed, err := tx.EditProject(c.ctx(), c.ref(), func(p *store.Project) {
		now.Project = *p
		p.Visibility, p.StackVersion, p.APIAccount, p.APISlug = after.Visibility, after.StackVersion, after.APIAccount, after.APISlug
	})
	if err != nil {
		return err
	}
	options, err := tx.Project(c.ctx(), c.ref()) // which nobody else changes anymore
	if err != nil {
		return err
	}
	if now.Project != before.Project || options.PublicPreview != before.PublicPreview || options.EnforceSchema != before.EnforceSchema {
		return errEdited
	}
	if after.PublicPreview {
		if after.PublicPreview, err = c.keepsPreview(tx, before, after); err != nil {
			return err
		}
	}
	if after.PublicPreview != before.PublicPreview {
		changed = true
		if err := tx.SetPublicPreview(c.ctx(), c.ref(), after.PublicPreview, c.who.user); err != nil {
			return err
		}
	}
	if after.EnforceSchema != before.EnforceSchema {
		changed = true
		if err := tx.EnforceSchema(c.ctx(), c.ref(), after.EnforceSchema, c.who.user); err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	detail := fmt.Sprintf("%s, stack %s, API %s", after.Visibility, after.StackVersion, refOf(after.APIAccount, after.APISlug))
	if after.PublicPreview {
		detail += ", public preview"
	}
	if after.EnforceSchema {
		detail += ", schema enforced"
	}
	return c.audit(c.ctx(), tx, after.Account, "project.edit", c.ref().String(), detail)
}
