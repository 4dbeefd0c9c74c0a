package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

func uploadAPI(c *request.Call) error {
	data, err := readDescription(c)
	if err != nil {
		return err
	}
	q := c.R.URL.Query()
	if err := checkSlug("", q.Get("slug")); err != nil {
		return err
	}
	if done, err := c.Repeated(); done || err != nil {
		return err
	}
	to := store.Resource{AccountID: c.Access.AccountID, Account: c.AccountInQuery(), Slug: q.Get("slug")}
	return register(c, to, data, q.Get("name"))
}

// checkSlug returns a 422 about the value at pointer for an invalid slug; "" is valid.
func checkSlug(pointer, slug string) error {
	if slug != "" && !ref.ValidName(slug) {
		return request.InvalidBody(pointer, "%q is not a slug: a slug is %s", slug, ref.Rule)
	}
	return nil
}

// importAPI registers the description at an address as a new API.
func importAPI(c *request.Call, req *wire.ImportAPI) error {
	if err := checkSlug("/slug", req.Slug); err != nil {
		return err
	}
	account := cmp.Or(req.Account, c.Access.Account)
	if !ref.ValidName(account) {
		return request.InvalidBody("/account", "%q is not an account: an account is %s", account, ref.Rule)
	}
	if err := fetch.CheckURL(req.URL); err != nil {
		return fetchProblem(err)
	}
	owner, err := c.Permit(store.AccessQuery{Account: account}, wire.Writer, wire.ScopeWriteCatalog)
	if err != nil {
		return err
	}
	if done, err := c.Repeated(); done || err != nil {
		return err
	}
	data, err := fetchDescription(c, account, req.URL)
	if err != nil {
		return err
	}
	to := store.Resource{AccountID: owner.AccountID, Account: account, Slug: req.Slug}
	return register(c, to, data, fileOf(req.URL))
}

// register stores a description as a new API of the account in r, and responds with it. The slug is r's, or
// comes from the title. name is the description's file, see described.
func register(c *request.Call, r store.Resource, data []byte, name string) error {
	a, blobs, err := described(c, data, name)
	if err != nil {
		return err
	}
	a.Resource = r
	a.Slug, a.CreatedBy = cmp.Or(r.Slug, slugOf(a.Title)), c.Access.Name()
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		id, err := tx.AddAPI(a, blobs, r.Slug == "")
		if err != nil {
			return done, err
		}
		added, err := tx.API(id)
		return request.Done{
			Account: added.Account, Action: "api.register", Object: added.String(), Detail: added.Document, ResourceID: id,
			Reply: &request.Reply{
				Status: http.StatusCreated, Location: "/v1/apis/" + refTo(added.Resource).Path(), Body: toAPI(&added),
			},
		}, err
	})
	if errors.Is(err, store.ErrExists) {
		return request.Problemf(http.StatusConflict, wire.CodeAPIExists, "%s already exists", a)
	}
	return err
}

func listAPIs(c *request.Call, a listQuery) error {
	names, err := a.accounts(c, wire.Reader)
	if err != nil {
		return err
	}
	found, err := c.View().APIs(names, a.after, a.limit+1)
	if err != nil {
		return err
	}
	var answer wire.APIs
	answer.APIs, answer.NextCursor = pageOf(found, a.limit, toAPI, (*store.API).String)
	return c.JSON(http.StatusOK, answer)
}

// registered returns the row of the API that the path names, 404 if it was deleted meanwhile.
func registered(c *request.Call) (a store.API, err error) {
	a, err = c.View().API(c.Resource.ID)
	return a, resourceProblem(c, err)
}

func getAPI(c *request.Call, a store.API) error {
	return c.JSON(http.StatusOK, toAPI(&a))
}

func getDocument(c *request.Call, a store.API) error {
	if c.Unmodified(a.Document) {
		return nil
	}
	text, err := Content(c, a.ID, a.Document)
	if err != nil {
		return err
	}
	// A browser must not show a user's document as a page of the hub.
	c.W.Header().Set("Content-Disposition", "attachment")
	return c.Bytes(http.StatusOK, a.MediaType, text)
}

// getTargets responds with what enrichments can refer to in an API: its operations and schemas.
func getTargets(c *request.Call, a store.API) error {
	return sendContent(c, a.ID, a.Targets, a.Document)
}

// putDocument replaces the description of a registered API by the body, or by the document at ?url=.
func putDocument(c *request.Call) error {
	q := c.R.URL.Query()
	var data []byte
	var err error
	name := q.Get("name")
	if address := q.Get("url"); address != "" {
		name = fileOf(address)
		data, err = fetchDescription(c, c.Resource.Account, address)
	} else {
		data, err = readDescription(c)
	}
	if err != nil {
		return err
	}
	a, blobs, err := described(c, data, name)
	if err != nil {
		return err
	}
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		after, changed, err := tx.UpdateAPI(c.Resource.ID, a, blobs, c.Access.Name())
		if changed {
			done = c.Did("api.update", after.Document)
		}
		return done.With(http.StatusOK, toAPI(&after)), err
	})
	return resourceProblem(c, err)
}

// deleteAPI deletes an API that no project uses. It is not a failure if the API does not exist.
func deleteAPI(c *request.Call) error {
	err := deletion(c, wire.DeletedAPI{API: c.Ref()}, func(tx *store.Tx) (request.Done, error) {
		done := c.Did("api.delete", "").With(http.StatusOK, wire.DeletedAPI{API: c.Ref(), Existed: true})
		return done, tx.DeleteAPI(c.Resource.ID, c.Access.Name())
	})
	if errors.Is(err, store.ErrReference) {
		return apiInUse(c)
	}
	return err
}

// mostUsers is how many projects a problem lists at most.
const mostUsers = 50

// apiInUse is the 409 of the deletion of an API that projects use. It names those that the caller may see.
func apiInUse(c *request.Call) error {
	mine, err := accountsWith(c, wire.Reader)
	if err != nil {
		return err
	}
	users, err := c.View().ProjectsUsing(c.Resource.ID, mostUsers+1)
	if err != nil {
		return err
	}
	p := request.Problemf(http.StatusConflict, wire.CodeAPIInUse, "projects use %s", c.Resource)
	hidden := 0
	for _, u := range users[:min(mostUsers, len(users))] {
		if slices.Contains(mine, u.Account) || u.IsPublic() {
			p.Errors = append(p.Errors, wire.FieldError{Detail: u.String()})
		} else {
			hidden++
		}
	}
	if hidden > 0 {
		p.Errors = append(p.Errors, wire.FieldError{Detail: fmt.Sprintf("%d that you cannot see", hidden)})
	}
	if len(users) > mostUsers {
		p.Errors = append(p.Errors, wire.FieldError{Detail: "and more"})
	}
	if len(p.Errors) == 1 {
		p.Detail = fmt.Sprintf("%s is used by %s", c.Resource, p.Errors[0].Detail)
	}
	return p.WithHint("nothing was deleted: change the API of these projects, or delete them")
}

func toAPI(a *store.API) wire.API {
	return wire.API{
		API: refTo(a.Resource), Title: a.Title, Version: a.Version, Format: a.Format, SHA256: a.Document,
		CreatedAt: a.CreatedAt.Time(), CreatedBy: a.CreatedBy, UpdatedAt: a.UpdatedAt.Time(), UpdatedBy: a.UpdatedBy,
	}
}
