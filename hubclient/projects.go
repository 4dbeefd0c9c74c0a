package hubclient

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Created proves that a call created a project. Only with it can the project be seeded.
type Created struct {
	client  *Client
	project wire.Project
}

// Project returns the project that was created.
func (c Created) Project() wire.Project { return c.project }

// CreateProject creates a project. It never changes an existing one: the error is
// project_exists if the name is taken. Only its success returns a Created that can seed:
//
//	hubclient.Created{}.SeedConfig(ctx, body)            // no client: panics
//	hubclient.Created{client: c}.SeedConfig(ctx, body)   // does not compile
func (c *Client) CreateProject(ctx context.Context, req wire.CreateProject) (Created, error) {
	about, err := ref.New(req.Account, req.Slug)
	if err != nil {
		return Created{}, &Error{Code: CodeInvalidName, Detail: err.Error()}
	}
	r := to(wire.OpCreateProject, ref.Ref{})
	r.about = about
	if err := r.jsonBody(req); err != nil {
		return Created{}, err
	}
	created := Created{client: c}
	a, err := c.send(ctx, r, &created.project)
	if err != nil {
		return Created{}, err
	}
	if a.status != http.StatusCreated {
		return Created{}, c.notAHub(a.status, "a project is created with status 201")
	}
	return created, nil
}

// Project returns a project.
func (c *Client) Project(ctx context.Context, r ref.Ref) (*wire.Project, error) {
	return result[wire.Project](ctx, c, to(wire.OpGetProject, r))
}

// EditProject changes a project's visibility, stack version or API, and returns the project.
func (c *Client) EditProject(ctx context.Context, r ref.Ref, edit wire.EditProject) (*wire.Project, error) {
	req := to(wire.OpEditProject, r)
	if err := req.jsonBody(edit); err != nil {
		return nil, err
	}
	var p wire.Project
	_, err := c.send(ctx, req, &p)
	return &p, err
}

// A list is read in pages, and has to end.
const (
	pageSize = 200
	maxPages = 1000
	maxList  = 64 << 20 // bytes of all pages
)

// Projects returns the projects of account that the caller can see; with account "",
// those of all accounts on which the caller has a role.
func (c *Client) Projects(ctx context.Context, account string) ([]wire.Project, error) {
	return readPages(ctx, c, wire.OpListProjects, account, func(p *wire.Projects) ([]wire.Project, string) { return p.Projects, p.NextCursor })
}

// readPages returns the items of all pages of a list.
func readPages[Page, Item any](ctx context.Context, c *Client, op wire.Op, account string, items func(*Page) ([]Item, string)) ([]Item, error) {
	all := []Item{}
	cursor, size := "", 0
	for range maxPages {
		r := to(op, ref.Ref{})
		r.query(url.Values{"account": {account}, "limit": {strconv.Itoa(pageSize)}, "cursor": {cursor}})
		var page Page
		a, err := c.send(ctx, r, &page)
		if err != nil {
			return nil, err
		}
		found, next := items(&page)
		all = append(all, found...)
		if next == "" || len(found) == 0 {
			return all, nil
		}
		if size += a.size; size > maxList {
			break
		}
		cursor = next
	}
	return nil, c.notAHub(http.StatusOK, "its list does not end")
}

// Deletion is the outcome of a deletion.
type Deletion struct {
	wire.Deleted
	// Ambiguous: the project did not exist when the hub answered, but an earlier attempt,
	// whose response was lost, may have deleted it.
	Ambiguous bool
}

// DeleteProject deletes a project. It is not an error if the project does not exist.
func (c *Client) DeleteProject(ctx context.Context, r ref.Ref) (*Deletion, error) {
	var d Deletion
	a, err := c.send(ctx, to(wire.OpDeleteProject, r), &d.Deleted)
	d.Ambiguous = err == nil && a.lost && !d.Existed
	return &d, err
}

// RestoreProject restores a deleted project, under the slug as, or its own one if that is "". It is
// not an error if the project was not deleted; then Existed is true, unless an attempt whose response
// was lost has restored it.
func (c *Client) RestoreProject(ctx context.Context, r ref.Ref, as string) (*wire.Restored, error) {
	var restored wire.Restored
	req := to(wire.OpRestoreProject, r)
	if as != "" {
		var err error
		if req.about, err = ref.New(r.Account(), as); err != nil {
			return nil, &Error{Code: CodeInvalidName, Detail: err.Error()}
		}
		if err := req.jsonBody(wire.RestoreProject{As: as}); err != nil {
			return nil, err
		}
	}
	a, err := c.send(ctx, req, &restored)
	restored.Existed = restored.Existed && err == nil && !a.lost
	return &restored, err
}

// DeletedProjects returns the projects of account that can be restored; with account "",
// those of all accounts on which the caller is at least a writer.
func (c *Client) DeletedProjects(ctx context.Context, account string) ([]wire.DeletedProject, error) {
	return readPages(ctx, c, wire.OpListDeleted, account, func(p *wire.DeletedProjects) ([]wire.DeletedProject, string) { return p.Projects, p.NextCursor })
}
