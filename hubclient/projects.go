package hubclient

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

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
	created := Created{client: c}
	r := to(wire.OpCreateProject, ref.Ref{}).json(req).named(req.Account, req.Slug)
	a, err := c.send(ctx, r, &created.project)
	if err != nil {
		return Created{}, err
	}
	if a.status != http.StatusCreated {
		return Created{}, c.notAHub(a.status, "a project is created with status 201")
	}
	return created, nil
}

// PlanProject returns what CreateProject would find, fails as it would, and writes nothing.
// The API may be absent, and req.Then says what is to follow.
func (c *Client) PlanProject(ctx context.Context, req wire.CreateProject) (*wire.ProjectPlan, error) {
	r := to(wire.OpCreateProject, ref.Ref{}).dryRun().json(req).named(req.Account, req.Slug)
	return result[wire.ProjectPlan](ctx, c, r)
}

// Project returns a project.
func (c *Client) Project(ctx context.Context, r ref.Ref) (*wire.Project, error) {
	return result[wire.Project](ctx, c, to(wire.OpGetProject, r))
}

// EditProject changes a project's visibility, stack version, API or name, and returns the project.
func (c *Client) EditProject(ctx context.Context, r ref.Ref, edit wire.EditProject) (*wire.Project, error) {
	req := to(wire.OpEditProject, r).json(edit)
	if edit.Slug != "" {
		req = req.named(r.Account(), edit.Slug)
	}
	return result[wire.Project](ctx, c, req)
}

// Projects returns the projects of account that the caller can see; with account "",
// those of all accounts on which the caller has a role.
func (c *Client) Projects(ctx context.Context, account string) ([]wire.Project, error) {
	return listAll(ctx, c, wire.OpListProjects, account, func(p *wire.Projects) ([]wire.Project, string) {
		return p.Projects, p.NextCursor
	})
}

// PresentName returns the present name of the project r, in the same account, if a response to c has said that it was
// renamed; else r.
func (c *Client) PresentName(r ref.Ref) ref.Ref {
	if present, ok := c.renamed.Load(r); ok {
		return present.(ref.Ref)
	}
	return r
}

// noteRename remembers that a project was renamed, if a request for the path from was redirected to, or served as, the
// path to: the same one with another slug. With to "", from has the present name.
func (c *Client) noteRename(from, to string) {
	former, rest, ok := projectIn(from)
	present, same, isProject := projectIn(to)
	switch {
	case ok && to == "":
		c.renamed.Delete(former)
	case ok && isProject && rest == same && former != present && former.Account() == present.Account():
		c.renamed.Store(former, present)
	}
}

// projectIn returns the project that a path is about, and what follows its name, without the query.
func projectIn(path string) (r ref.Ref, rest string, ok bool) {
	path, _, _ = strings.Cut(path, "?")
	path, ok = strings.CutPrefix(path, "/v1/projects/")
	account, path, _ := strings.Cut(path, "/")
	slug, rest, _ := strings.Cut(path, "/")
	r, err := ref.New(account, slug)
	return r, rest, ok && err == nil
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
// not an error if the project was not deleted; then Existed is true.
func (c *Client) RestoreProject(ctx context.Context, r ref.Ref, as string) (*wire.Restored, error) {
	req := to(wire.OpRestoreProject, r)
	if as != "" {
		req = req.json(wire.RestoreProject{As: as}).named(r.Account(), as)
	}
	return result[wire.Restored](ctx, c, req)
}

// DeletedProjects returns the projects of account that can be restored; with account "",
// those of all accounts on which the caller is at least a writer.
func (c *Client) DeletedProjects(ctx context.Context, account string) ([]wire.DeletedProject, error) {
	return listAll(ctx, c, wire.OpListDeleted, account, func(p *wire.DeletedProjects) ([]wire.DeletedProject, string) {
		return p.Projects, p.NextCursor
	})
}

// A list is read in pages, and has to end.
const (
	pageSize = 200
	maxPages = 1000
	maxList  = 64 << 20 // bytes of all pages
)

func listAll[Page, Item any](
	ctx context.Context, c *Client, op wire.Op, account string, items func(*Page) ([]Item, string),
) ([]Item, error) {
	all := []Item{}
	err := eachItem(ctx, c, to(op, ref.Ref{}), account, items, func(item Item) bool {
		all = append(all, item)
		return true
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// eachItem calls f with the items of all pages of a list, until f returns false. items
// returns the items of a page, and the cursor of the next one.
func eachItem[Page, Item any](
	ctx context.Context, c *Client, r *request, account string, items func(*Page) ([]Item, string), f func(Item) bool,
) error {
	cursor, size := "", 0
	for range maxPages {
		var page Page
		query := url.Values{"account": {account}, "limit": {strconv.Itoa(pageSize)}, "cursor": {cursor}}
		a, err := c.send(ctx, r.query(query), &page)
		if err != nil {
			return err
		}
		found, next := items(&page)
		for _, item := range found {
			if !f(item) {
				return nil
			}
		}
		if next == "" || len(found) == 0 {
			return nil
		}
		if size += a.size; size > maxList {
			break
		}
		cursor = next
	}
	return c.notAHub(http.StatusOK, "its list does not end")
}
