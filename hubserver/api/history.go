package api

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// getConfigHistory responds with a page of the revisions of a config, newest first.
func getConfigHistory(c *request.Call, page pageQuery) error {
	before, err := strconv.ParseInt(cmp.Or(page.cursor, "0"), 10, 64)
	if err != nil || before < 1 && page.cursor != "" {
		return invalidCursor()
	}
	revisions, err := c.View().History(c.Resource.ID, store.Config, before, page.limit+1)
	if err != nil {
		return err
	}
	var answer wire.ConfigHistory
	number := func(r *store.Revision) string { return strconv.FormatInt(r.N, 10) }
	answer.Entries, answer.NextCursor = pageOf(revisions, page.limit, toConfigEntry, number)
	return c.JSON(http.StatusOK, answer)
}

func toConfigEntry(r *store.Revision) wire.ConfigEntry {
	return wire.ConfigEntry{
		Edit: toEdit(*r), Number: r.N, Parent: r.Parent, TokenName: r.Token, RequestID: r.Request, Push: r.Push,
		Message: r.Message, Added: r.Added, Changed: r.Changed, Removed: r.Removed,
		Keys: wire.Names(r.Names()),
	}
}

// getBaseFilesHistory responds with the revisions of a project's list of base files, newest first. It has no
// pages: the hub keeps few.
func getBaseFilesHistory(c *request.Call) error {
	limit := int(c.Hub.Store.Retention.Lists)
	revisions, err := c.View().History(c.Resource.ID, store.Files, 0, limit)
	if err != nil {
		return err
	}
	var answer wire.BaseFilesHistory
	answer.Entries, _ = pageOf(revisions, limit, toBaseFilesEntry, nil)
	return c.JSON(http.StatusOK, answer)
}

func toBaseFilesEntry(r *store.Revision) wire.BaseFilesEntry {
	return wire.BaseFilesEntry{
		BaseFilesSum: toBaseFilesSum(*r), Number: r.N, Parent: r.Parent,
		UpdatedAt: r.At.Time(), UpdatedBy: r.User, UpdatedVia: wire.Via(r.Via),
		TokenName: r.Token, RequestID: r.Request, Push: r.Push,
		Message: r.Message, Added: r.Added, Changed: r.Changed, Removed: r.Removed,
		Paths: wire.Names(r.Names()),
	}
}

func toBaseFilesSum(r store.Revision) wire.BaseFilesSum {
	return wire.BaseFilesSum{Tree: r.Digest, Count: int(r.Files), Bytes: r.Bytes}
}

// requestedRevision returns the former revision with the digest that a parameter of the query names, or the present
// one without the parameter. A former revision needs the role reader even of a public project: the project may
// have become public after something was removed.
func requestedRevision(
	c *request.Call, parameter string,
	former func(*request.Call, string) (store.Revision, error), present func(*request.Call) (store.Revision, error),
) (r store.Revision, err error) {
	q := c.R.URL.Query()
	if !q.Has(parameter) {
		return present(c)
	}
	if c.Access == nil {
		return r, c.Unauthenticated()
	}
	if _, err := c.Permit(queryFor(c.Resource), wire.Reader, ""); err != nil {
		return r, err
	}
	digest := q.Get(parameter)
	if err := checkDigest(parameter, digest); err != nil {
		return r, err
	}
	return former(c, digest)
}

// formerConfig returns the revision of the config with this digest, 404 if it is not kept or was never written.
func formerConfig(c *request.Call, digest string) (store.Revision, error) {
	former, err := c.View().Revision(c.Resource.ID, store.Config, digest)
	if errors.Is(err, store.ErrNotFound) || err == nil && !former.Written() {
		return former, request.Problemf(http.StatusNotFound, wire.CodeRevisionNotKept,
			"revision %s of the config of %s is not kept", digest, c.Ref()).
			WithHint("the hub keeps a limited number of revisions: list them with %s",
				"/v1/projects/"+c.Ref().Path()+"/config/history")
	}
	return former, err
}

// formerFiles returns the revision of the base files with this digest, 404 if it is not kept.
func formerFiles(c *request.Call, digest string) (store.Revision, error) {
	set, err := c.View().Revision(c.Resource.ID, store.Files, digest)
	if errors.Is(err, store.ErrNotFound) {
		return set, request.Problemf(http.StatusNotFound, wire.CodeRevisionNotKept,
			"the set of base files %s of %s is not kept", digest, c.Ref()).
			WithHint("the hub keeps the last %d: list them with /v1/projects/%s/preview/base-files/history",
				c.Hub.Store.Retention.Lists, c.Ref().Path())
	}
	return set, err
}
