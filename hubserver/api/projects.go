package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// createProject creates a project with a stack and an API, or as a copy of another project.
func createProject(c *request.Call, req *wire.CreateProject) error {
	pointer := "/slug"
	if !ref.ValidName(req.Account) {
		pointer = "/account"
	}
	if _, err := ref.New(req.Account, req.Slug); err != nil {
		return request.InvalidBody(pointer, "%v", err)
	}
	dryRun, err := isDryRun(c)
	switch {
	case err != nil:
		return err
	case dryRun && !req.CopyOf.IsZero():
		return request.InvalidBody("/copyOf", "a copy has no dry run")
	case !dryRun && req.Then != nil:
		return request.InvalidBody("/then", "is for a dry run, with ?dryRun=1")
	case !req.CopyOf.IsZero():
		return createCopy(c, req)
	}
	stack, err := ref.ParsePath(req.Stack)
	if err != nil {
		return request.InvalidBody("/stack", "%v", err)
	}
	if req.API.IsZero() && !dryRun {
		return request.InvalidBody("/api", "is required: {account, slug}")
	}
	if err := checkProject(req.StackVersion, req.Visibility); err != nil {
		return err
	}
	owner, err := c.Permit(store.AccessQuery{Account: req.Account}, wire.Writer, wire.ScopeWriteCatalog)
	if err != nil {
		return err
	}
	bound := store.Bound{
		Stack:        store.Resource{Account: stack.Account(), Kind: store.KindStack, Slug: stack.Slug()},
		StackVersion: cmp.Or(req.StackVersion, wire.Latest),
		API:          store.Resource{Account: req.API.Account(), Kind: store.KindAPI, Slug: req.API.Slug()},
	}
	if err := permitBindings(c, &bound); err != nil {
		return err
	}
	if dryRun {
		return planProject(c, owner.AccountID, req, bound)
	}
	row := store.Resource{AccountID: owner.AccountID}
	return insertProject(c, row, req, bound, func(*store.Tx, int64) error { return nil })
}

// maxSimilar bounds how many similar APIs a dry run names.
const maxSimilar = 5

// planProject answers a dry run, which writes nothing: it fails where the creation of the project, or a write after it,
// would fail.
func planProject(c *request.Call, account int64, req *wire.CreateProject, bound store.Bound) error {
	taken, err := c.AccessTo(store.AccessQuery{Account: req.Account, Kind: store.KindProject, Slug: req.Slug})
	if err != nil {
		return err
	}
	p := store.Project{Resource: store.Resource{Account: req.Account, Slug: req.Slug}, Bound: bound}
	version, err := c.View().ResolveVersion(bound)
	if taken.Resource.ID != 0 && taken.Resource.Slug == req.Slug {
		err = store.ErrExists
	} else if err == nil && bound.API.ID == 0 && !req.API.IsZero() {
		err = store.ErrNoAPI
	}
	if err != nil {
		return boundProblem(c, err, &p)
	}
	plan := wire.ProjectPlan{
		Project: refTo(p.Resource), Stack: req.Stack, StackVersion: bound.StackVersion, ResolvedStackVersion: version,
	}
	then := cmp.Or(req.Then, &wire.Then{})
	measures := flat.Limits{Bytes: then.ConfigBytes, Keys: then.ConfigKeys, Depth: then.ConfigDepth}
	if err := checkLimits(c, measures); err != nil {
		return err
	}
	if err := checkSet(c, then.BaseFiles, then.LargestFile, then.LargestBytes, then.BaseFilesBytes); err != nil {
		return err
	}
	similar, err := c.View().SimilarAPIs(account, then.SHA256, then.Title, maxSimilar)
	for i := range similar {
		plan.SimilarAPIs = append(plan.SimilarAPIs, toAPI(&similar[i]))
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, plan)
}

// checkProject returns a 422 for an invalid version or visibility; "" is valid.
func checkProject(stackVersion string, visibility wire.Visibility) error {
	if stackVersion != "" && stackVersion != wire.Latest && !version.Valid(stackVersion) {
		return request.InvalidBody("/stackVersion", "%q is neither latest nor a version such as 1.2.0", stackVersion)
	}
	if visibility != "" && visibility != wire.Private && visibility != wire.Public {
		return request.InvalidBody("/visibility", "%q is neither private nor public", visibility)
	}
	return nil
}

// permitBindings looks up the stack and the API of b by their names, and sets their rows: 403 if the caller may
// not read one. ID 0 means that it does not exist, or has no name, as the API in a dry run.
func permitBindings(c *request.Call, b *store.Bound) error {
	for _, bound := range []*store.Resource{&b.Stack, &b.API} {
		if bound.Slug == "" {
			continue
		}
		a, err := c.Permit(queryFor(*bound), wire.Reader, "")
		if err != nil {
			return err
		}
		*bound = a.Resource
	}
	return nil
}

// queryFor returns the query for a resource by its name.
func queryFor(r store.Resource) store.AccessQuery {
	return store.AccessQuery{Account: r.Account, Kind: r.Kind, Slug: r.Slug}
}

// insertProject creates a project with a stack and an API, and responds with it. row has its account, and the ID of
// a copy. fill is called in the same transaction with the new ID.
func insertProject(
	c *request.Call, row store.Resource, req *wire.CreateProject, bound store.Bound,
	fill func(tx *store.Tx, id int64) error,
) error {
	p := store.Project{Resource: row, Bound: bound, ExpiresAt: store.At(req.ExpiresAt)}
	p.Account, p.Slug, p.CreatedBy = req.Account, req.Slug, c.Access.Name()
	p.Visibility = string(cmp.Or(req.Visibility, wire.Private))
	err := c.Write(func(tx *store.Tx) (done request.Done, err error) {
		id, err := tx.AddProject(p)
		if err != nil {
			return done, err
		}
		if p.ExpiresAt != 0 && p.ExpiresAt <= tx.Now() {
			return done, request.InvalidBody("/expiresAt", "%s has passed", request.FormatTime(req.ExpiresAt))
		}
		if err := fill(tx, id); err != nil {
			return done, err
		}
		created, err := tx.Project(id)
		return request.Done{
			Account: p.Account, Action: "project.create", Object: p.String(), Detail: p.StackVersion, ResourceID: id,
			Reply: &request.Reply{
				Status: http.StatusCreated, Location: "/v1/projects/" + refTo(p.Resource).Path(), Body: toProject(c, &created),
			},
		}, err
	})
	return boundProblem(c, err, &p)
}

// boundProblem turns the errors of creating or editing a project into problems.
func boundProblem(c *request.Call, err error, p *store.Project) error {
	switch {
	case errors.Is(err, store.ErrExists):
		return request.Problemf(http.StatusConflict, wire.CodeProjectExists, "%s already exists", p.Resource).
			WithHint("push updates an existing project")
	case errors.Is(err, store.ErrNotPublished):
		lacks, hint := "is not published", "publish it first"
		if p.StackVersion != wire.Latest {
			lacks = "has no published version " + p.StackVersion
			hint = cmp.Or(newestVersions(c, p.Stack.ID), hint)
		}
		return request.Problemf(http.StatusUnprocessableEntity, wire.CodeStackNotPublished,
			"the stack %s %s", p.Stack, lacks).WithHint("%s", hint)
	case errors.Is(err, store.ErrNoAPI):
		return request.Problemf(http.StatusUnprocessableEntity, wire.CodeAPINotFound,
			"the API %s is not registered here", p.API)
	}
	return err
}

// newestVersions is a hint at the versions of a stack that can be used, "" for none.
func newestVersions(c *request.Call, stack int64) string {
	_, versions, err := c.View().Stack(stack)
	versions = slices.DeleteFunc(versions, func(v store.StackVersion) bool { return v.WithdrawnAt != 0 })
	if err != nil || len(versions) == 0 {
		return ""
	}
	var newest []string
	for _, v := range versions[:min(5, len(versions))] {
		newest = append(newest, v.Version)
	}
	if len(newest) == 1 {
		return "latest published version: " + newest[0]
	}
	return "latest published versions: " + strings.Join(newest, ", ")
}

// MaxSearch bounds the text of a search: nothing longer is a part of account/slug.
const MaxSearch = 2*64 + 1

// listProjects responds with a page of the projects that the caller may see, with ?q= of those with that text in
// account/slug.
func listProjects(c *request.Call, a listQuery) error {
	filter, err := visible(c, a.account)
	if err != nil {
		return err
	}
	filter.After, filter.Limit, filter.Search = a.after, a.limit+1, c.R.URL.Query().Get("q")
	if len(filter.Search) > MaxSearch {
		return request.InvalidBody("", "q has more than %d characters", MaxSearch)
	}
	found, err := c.View().ListProjects(filter)
	if err != nil {
		return err
	}
	var answer wire.Projects
	show := func(p *store.Project) wire.Project { return toProject(c, p) }
	answer.Projects, answer.NextCursor = pageOf(found, a.limit, show, (*store.Project).String)
	return c.JSON(http.StatusOK, answer)
}

// visible returns the filter for the projects of an account that the caller may see; "" stands for all accounts
// on which the caller has a role.
func visible(c *request.Call, account string) (f store.ProjectFilter, err error) {
	if only := c.Access.Only; only.ResourceID != 0 && (account == "" || account == only.Account) {
		a, err := c.AccessTo(store.AccessQuery{Account: only.Account, Kind: store.KindProject, Slug: only.Slug})
		if err == nil && atLeast(a.Role, wire.Reader) {
			return store.ProjectFilter{Project: a.Resource.ID, Public: true, Within: only.Account}, nil
		}
		if err != nil {
			return f, err
		}
	}
	if account == "" {
		f.Accounts, err = accountsWith(c, wire.Reader)
		return f, err
	}
	a, err := c.AccessTo(store.AccessQuery{Account: account})
	if err == nil && atLeast(a.Role, wire.Reader) {
		f.Accounts = []string{account}
	}
	f.Public, f.Within = true, account
	return f, err
}

func getProject(c *request.Call, p store.Project) error {
	return c.JSON(http.StatusOK, toProject(c, &p))
}

// project returns the project that the path names, 404 if it was deleted meanwhile.
func project(c *request.Call) (p store.Project, err error) {
	p, err = c.View().Project(c.Resource.ID)
	return p, resourceProblem(c, err)
}

// resourceProblem turns an ErrNotFound about what the path names into a 404. It returns other errors as they are.
func resourceProblem(c *request.Call, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		c.Resource = store.Resource{} // it was deleted meanwhile
		return c.NeedResource()
	}
	return err
}

// editProject changes the project that the path names. Another version of the stack, or another API, needs the role
// reader there, as when the project was created.
func editProject(c *request.Call, req *wire.EditProject) error {
	if err := checkProject(req.StackVersion, req.Visibility); err != nil {
		return err
	}
	if err := checkSlug("/slug", req.Slug); err != nil {
		return err
	}
	before, err := project(c)
	if err != nil {
		return err
	}
	after, err := edited(c, req, before)
	if err != nil {
		return err
	}
	becomesPublic := after.Visibility == string(wire.Public) && after.Visibility != before.Visibility
	if becomesPublic {
		config, err := newestConfig(c)
		if err != nil {
			return err
		}
		if err := checkPublic(config.Content); err != nil {
			return err
		}
		before.Config.Digest = config.Digest
	}
	var shown wire.Project
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		now, err := tx.LockProject(before.ID)
		if err != nil {
			return done, err
		}
		wasEdited := now.Slug != before.Slug || becomesPublic && now.Config.Digest != before.Config.Digest
		if wasEdited || now.Bound != before.Bound || now.Visibility != before.Visibility { // what was checked
			return done, request.Unavailable(1, "somebody else edited %s at the same time", before)
		}
		if after.Bound != before.Bound || after.Visibility != before.Visibility {
			done = c.Did("project.edit", summary(&after))
			if err := tx.EditProject(after); err != nil {
				return done, err
			}
		}
		if after.Slug != before.Slug {
			done.Also = []request.Done{c.Did("project.rename", after.String())}
			if err := tx.RenameProject(before.Resource, after.Slug); err != nil {
				return done, err
			}
		}
		now, err = tx.Project(before.ID)
		shown = toProject(c, &now)
		return done, err
	})
	if errors.Is(err, store.ErrExists) {
		return request.Problemf(http.StatusConflict, wire.CodeProjectExists, "%s already exists", after.Resource).
			WithHint("choose another name for %s", before)
	}
	if err != nil {
		return resourceProblem(c, boundProblem(c, err, &after))
	}
	return c.JSON(http.StatusOK, shown)
}

// edited returns the project after an edit: 403 unless the caller has the role that each change needs.
func edited(c *request.Call, req *wire.EditProject, before store.Project) (after store.Project, err error) {
	after = before
	after.Visibility = cmp.Or(string(req.Visibility), before.Visibility)
	var admin []store.Resource // of which the caller must be an admin
	if req.Slug != "" && req.Slug != before.Slug {
		after.Slug = req.Slug
		admin = append(admin, before.Resource)
	}
	if req.StackVersion != "" && req.StackVersion != before.StackVersion {
		stack, err := c.Permit(queryFor(before.Stack), wire.Reader, "")
		if err != nil {
			return after, err
		}
		after.StackVersion = req.StackVersion
		// A public preview would publish that version: it stays public only if the caller is an admin of the stack.
		if after.PublicPreview = before.PublicPreview && atLeast(stack.Role, wire.Admin); after.PublicPreview {
			admin = append(admin, before.Stack)
		}
	}
	if !req.API.IsZero() && req.API != refTo(before.API) {
		query := store.AccessQuery{Account: req.API.Account(), Kind: store.KindAPI, Slug: req.API.Slug()}
		api, err := c.Permit(query, wire.Reader, "")
		if err != nil {
			return after, err
		}
		after.API, after.PublicPreview = api.Resource, false
	}
	if req.EnforceSchema != nil && *req.EnforceSchema != before.EnforceSchema {
		after.EnforceSchema = *req.EnforceSchema
		admin = append(admin, before.Resource)
	}
	if req.PublicPreview != nil {
		after.PublicPreview = *req.PublicPreview
		admin = append(admin, before.Resource)
		if after.PublicPreview {
			admin = append(admin, after.Stack, after.API)
		}
	}
	for _, r := range admin {
		if _, err := c.Permit(queryFor(r), wire.Admin, ""); err != nil {
			return after, err
		}
	}
	return after, nil
}

// summary describes an edited project for the audit log.
func summary(p *store.Project) string {
	detail := fmt.Sprintf("%s, stack %s, API %s", p.Visibility, p.StackVersion, p.API)
	if p.PublicPreview {
		detail += ", public preview"
	}
	if p.EnforceSchema {
		detail += ", schema enforced"
	}
	return detail
}

func toProject(c *request.Call, p *store.Project) wire.Project {
	shown := wire.Project{
		Project:              refTo(p.Resource),
		Stack:                refTo(p.Stack).Path(),
		StackVersion:         p.StackVersion,
		ResolvedStackVersion: p.ResolvedVersion(),
		API:                  refTo(p.API),
		Visibility:           wire.Visibility(p.Visibility),
		PublicPreview:        p.PublicPreview,
		EnforceSchema:        p.EnforceSchema,
		URL:                  c.Hub.PublicURL + "/" + p.String(),
		CreatedAt:            p.CreatedAt.Time(),
		CreatedBy:            p.CreatedBy,
		ExpiresAt:            p.ExpiresAt.Time(),
		Config:               wire.ConfigState{HasConfig: p.Config.HasConfig(), Edit: toEdit(p.Config)},
	}
	if p.Withdrawn {
		shown.UseStackVersion = p.StackLatest
	}
	if p.Files.N != 0 {
		shown.BaseFiles = new(toBaseFilesSum(p.Files))
	}
	return shown
}
