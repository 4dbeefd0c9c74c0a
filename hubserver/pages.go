package hubserver

import (
	"errors"
	"net/http"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// view finds out who looks at a page. A token that is not valid is as good as none: the
// page says how to sign in.
func (c *call) view() error {
	who, err := c.authenticate()
	var refused *problem
	if errors.As(err, &refused) && refused.Status == http.StatusUnauthorized {
		return nil
	}
	c.who = who
	return err
}

// projectPage returns the project that the path names with what every tab of its page
// shows; nil if the viewer may not read it. The two cases of that look the same.
func (c *call) projectPage(tab string) (*store.ProjectView, page.Project, error) {
	if err := c.view(); err != nil {
		return nil, page.Project{}, err
	}
	r, err := c.pathRef()
	if err != nil {
		return nil, page.Project{}, nil
	}
	role, err := c.roleOnProject()
	if err != nil {
		return nil, page.Project{}, err
	}
	if rank(role) < rank(wire.Reader) {
		if public, err := c.readsPublic(); err != nil || !public {
			return nil, page.Project{}, err
		}
	}
	view, err := c.project()
	if isNotFound(err) {
		return nil, page.Project{}, nil
	}
	if err != nil {
		return nil, page.Project{}, err
	}
	if rank(role) < rank(wire.Reader) && !view.IsPublic() { // any more
		return nil, page.Project{}, nil
	}
	shown := c.s.toPage(view)
	shown.Layout, shown.Tab, shown.CanWrite = c.layout(r.String()), tab, rank(role) >= rank(wire.Writer)
	shown.Account, shown.Slug = r.Account(), r.Slug()
	return view, shown, nil
}

func isNotFound(err error) bool {
	var p *problem
	return errors.As(err, &p) && p.Code == wire.CodeNotFound
}

// absentProject responds with the page for a project that the viewer may not read.
func (c *call) absentProject() error {
	r, err := c.pathRef()
	if err != nil {
		return c.absentPage("", "")
	}
	return c.absentPage(r.String(), "tool project view "+r.String())
}

func (s *Server) toPage(view *store.ProjectView) page.Project {
	p := s.toProject(view)
	shown := page.Project{
		Ref:   p.Project.String(),
		Stack: "@" + p.Stack, Version: p.StackVersion, Resolved: p.ResolvedStackVersion, UseVersion: p.UseStackVersion,
		API: p.API.String(), Visibility: string(p.Visibility), CreatedBy: p.CreatedBy, CreatedAt: p.CreatedAt,
		Revision: p.Config.Revision, UpdatedBy: p.Config.UpdatedBy, UpdatedVia: string(p.Config.UpdatedVia), UpdatedAt: view.Config.UpdatedAt.Time(),
	}
	if p.BaseFiles != nil {
		shown.Tree, shown.FileCount, shown.FileBytes = p.BaseFiles.Tree, p.BaseFiles.Count, p.BaseFiles.Bytes
	}
	return shown
}

// tab returns the handler of a tab that shows no more than every tab does.
func (s *Server) tab(name string, render func(page.Project) ([]byte, error)) handler {
	return func(c *call) error {
		view, project, err := c.projectPage(name)
		if err != nil {
			return err
		}
		if view == nil {
			return c.absentProject()
		}
		body, err := render(project)
		return c.html(http.StatusOK, body, err)
	}
}
