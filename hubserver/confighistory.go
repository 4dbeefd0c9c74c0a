package hubserver

import (
	"errors"
	"net/http"
	"strconv"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func (s *Server) getConfigHistory(c *call) error {
	before, limit, err := c.historyParameters()
	if err != nil {
		return err
	}
	var entries []store.ConfigEntry
	err = s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		entries, err = v.ConfigHistory(c.ctx(), c.ref(), before, limit+1) // one more, to find out whether there is another page
		return err
	})
	if err != nil {
		return c.noProject(err)
	}
	answer := wire.ConfigHistory{Entries: []wire.ConfigEntry{}}
	if len(entries) > limit {
		entries = entries[:limit]
		answer.NextCursor = strconv.FormatInt(entries[limit-1].N, 10)
	}
	for i := range entries {
		answer.Entries = append(answer.Entries, toConfigEntry(&entries[i]))
	}
	return c.json(http.StatusOK, answer)
}

// historyParameters returns which page of a history the query asks for: that of the
// entries before one, or the first for 0.
func (c *call) historyParameters() (before int64, limit int, err error) {
	q, err := c.query()
	if err != nil {
		return 0, 0, err
	}
	if limit, err = pageLimit(q); err != nil {
		return 0, 0, err
	}
	if text := q.Get("cursor"); text != "" {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return 0, 0, invalidBody("", "invalid cursor: send the nextCursor of a page")
		}
	}
	return before, limit, nil
}

// revision returns the revision of the config that the query asks for, "" for the
// present one. What a config was is for those who can read the account: a project may
// have become public after something was removed from its config.
func (c *call) revision() (string, error) {
	q, err := c.query()
	if err != nil || !q.Has("revision") {
		return "", err
	}
	if err := c.needReader(); err != nil {
		return "", err
	}
	revision := q.Get("revision")
	if !tree.ValidDigest(revision) {
		return "", invalidBody("", "revision must be 64 lower-case hex digits, not %q", revision)
	}
	return revision, nil
}

// needReader refuses a caller who may read the project only because it is public.
func (c *call) needReader() error {
	if c.who == nil {
		return c.unauthenticated()
	}
	return c.permitProject(c.ref().Account(), wire.Reader, "")
}

// getRevision responds with the config as it was.
func (c *call) getRevision(revision string) error {
	if _, err := c.project(); err != nil {
		return err
	}
	var config *store.Config
	err := c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		config, err = v.ConfigRevision(c.ctx(), c.ref(), revision)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return c.revisionNotKept(revision)
	}
	if err != nil || c.unmodified(revision) {
		return err
	}
	return c.json(http.StatusOK, toConfig(config))
}

func (c *call) revisionNotKept(revision string) error {
	return problemf(http.StatusNotFound, wire.CodeRevisionNotKept, "revision %s of the config of %s is not kept", revision, c.ref()).
		hint("the hub keeps a limited number of revisions: list them with %s", "/v1/projects/"+c.ref().Path()+"/config/history")
}
