package hubclient

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Whoami returns what the hub knows of the token.
func (c *Client) Whoami(ctx context.Context) (*wire.Whoami, error) {
	var me wire.Whoami
	_, err := c.send(ctx, request{method: http.MethodGet, path: "/v1/whoami"}, &me)
	return &me, err
}

// Limits returns what the hub accepts, as its description of itself says.
func (c *Client) Limits(ctx context.Context) (wire.Limits, error) {
	var description wire.Description
	_, err := c.send(ctx, request{method: http.MethodGet, path: "/v1/openapi.json"}, &description)
	return description.Info.Limits, err
}

// Created is the proof that a call made a project, and the only way to seed one.
type Created struct {
	client  *Client
	project wire.Project
}

// Project returns the project that was made.
func (c Created) Project() wire.Project { return c.project }

// CreateProject makes a project. It never changes one: project_exists when the
// name is taken. Nothing but its success leads to a Created that can seed:
//
//	hubclient.Created{}.SeedConfig(ctx, body)            // no client: panics
//	hubclient.Created{client: c}.SeedConfig(ctx, body)   // does not compile
func (c *Client) CreateProject(ctx context.Context, req wire.CreateProject) (Created, error) {
	about, err := ref.New(req.Account, req.Slug)
	if err != nil {
		return Created{}, &Error{Code: CodeInvalidName, Detail: err.Error()}
	}
	r := request{method: http.MethodPost, path: "/v1/projects", about: about}
	if err := r.jsonBody(req); err != nil {
		return Created{}, err
	}
	r.keyed()
	created := Created{client: c}
	a, err := c.send(ctx, r, &created.project)
	if err != nil {
		return Created{}, err
	}
	if a.status != http.StatusCreated {
		return Created{}, c.notAHub(a.status, "a create is answered by 201")
	}
	return created, nil
}

func projectPath(r ref.Ref) string { return "/v1/projects/" + r.Path() }

// Project returns a project.
func (c *Client) Project(ctx context.Context, r ref.Ref) (*wire.Project, error) {
	var p wire.Project
	_, err := c.send(ctx, request{method: http.MethodGet, path: projectPath(r), about: r}, &p)
	return &p, err
}

// A list of projects is read in pages, and has to end.
const (
	pageSize = 200
	maxPages = 1000
	maxList  = 64 << 20 // bytes of all pages
)

// Projects returns every project that the caller can see: of one account, or of
// the caller's own with account "".
func (c *Client) Projects(ctx context.Context, account string) ([]wire.Project, error) {
	all := []wire.Project{}
	q := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if account != "" {
		q.Set("account", account)
	}
	size := 0
	for range maxPages {
		var page wire.Projects
		a, err := c.send(ctx, request{method: http.MethodGet, path: "/v1/projects?" + q.Encode()}, &page)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Projects...)
		if page.NextCursor == "" || len(page.Projects) == 0 {
			return all, nil
		}
		if size += a.size; size > maxList {
			break
		}
		q.Set("cursor", page.NextCursor)
	}
	return nil, c.notAHub(http.StatusOK, "its list of projects does not end")
}

// Deletion is the outcome of a deletion.
type Deletion struct {
	wire.Deleted
	// Ambiguous: the project did not exist when the hub answered, but an earlier attempt,
	// whose response was lost, may have deleted it.
	Ambiguous bool
}

// DeleteProject deletes a project. One that is gone already is no error.
func (c *Client) DeleteProject(ctx context.Context, r ref.Ref) (*Deletion, error) {
	var d Deletion
	a, err := c.send(ctx, request{method: http.MethodDelete, path: projectPath(r), about: r}, &d.Deleted)
	d.Ambiguous = err == nil && a.lost && !d.Existed
	return &d, err
}
