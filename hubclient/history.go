package hubclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// ConfigHistory returns a page of the history of a project's config, newest entry
// first: the first page for cursor "", else the one after the page with that NextCursor.
// With limit 0, the hub decides how many entries a page has.
func (c *Client) ConfigHistory(ctx context.Context, r ref.Ref, cursor string, limit int) (*wire.ConfigHistory, error) {
	page, _, err := c.configHistory(ctx, r, cursor, limit)
	return page, err
}

// configHistory also returns how many bytes the page has.
func (c *Client) configHistory(ctx context.Context, r ref.Ref, cursor string, limit int) (*wire.ConfigHistory, int, error) {
	req := to(wire.OpGetConfigHistory, r)
	q := url.Values{"cursor": {cursor}}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	req.query(q)
	var page wire.ConfigHistory
	a, err := c.send(ctx, req, &page)
	if err != nil {
		return nil, 0, c.withoutHistory(err)
	}
	return &page, a.size, nil
}

// withoutHistory returns the error of a call for a history. A hub of an earlier release
// does not know the route.
func (c *Client) withoutHistory(err error) error {
	if e, ok := errors.AsType[*Error](err); ok && (e.Code == wire.CodeUnknownRoute || e.Code == wire.CodeMethodNotAllowed) {
		older := c.older()
		older.Status, older.RequestID, older.Cause = e.Status, e.RequestID, e
		return older
	}
	return err
}

func (c *Client) older() *Error {
	return &Error{Code: CodeUnsupportedByHub, Detail: fmt.Sprintf("the hub %s is older than the history of projects", c.Origin())}
}

// historyPage is how many entries are asked for at once, the most that a hub sends.
const historyPage = 200

// EachConfigEntry calls f with the entries of the history of a project's config, newest
// first, until f returns false.
func (c *Client) EachConfigEntry(ctx context.Context, r ref.Ref, f func(wire.ConfigEntry) bool) error {
	cursor, size := "", 0
	for range maxPages {
		page, n, err := c.configHistory(ctx, r, cursor, historyPage)
		if err != nil {
			return err
		}
		for _, entry := range page.Entries {
			if !f(entry) {
				return nil
			}
		}
		if cursor = page.NextCursor; cursor == "" || len(page.Entries) == 0 {
			return nil
		}
		if size += n; size > maxList {
			break
		}
	}
	return c.notAHub(http.StatusOK, "its history does not end")
}

// FindConfigEntry returns the newest entry of the history of a project's config whose
// revision is abbreviated so, or written in full. The error is revision_not_kept unless it
// is exactly one revision.
func (c *Client) FindConfigEntry(ctx context.Context, r ref.Ref, abbreviated string) (*wire.ConfigEntry, error) {
	var found []wire.ConfigEntry
	whole := tree.ValidDigest(abbreviated)
	err := c.EachConfigEntry(ctx, r, func(entry wire.ConfigEntry) bool {
		if strings.HasPrefix(entry.Revision, abbreviated) && (len(found) == 0 || found[0].Revision != entry.Revision) {
			found = append(found, entry)
		}
		return len(found) < 2 && !(whole && len(found) == 1)
	})
	if err != nil {
		return nil, err
	}
	if err := onlyOne(len(found), "revision of the config", r, abbreviated); err != nil {
		return nil, err
	}
	return &found[0], nil
}

// FindBaseFilesEntry returns the newest of entries whose tree is abbreviated so, or written
// in full. The error is revision_not_kept unless it is exactly one tree.
func FindBaseFilesEntry(entries []wire.BaseFilesEntry, r ref.Ref, abbreviated string) (*wire.BaseFilesEntry, error) {
	var found *wire.BaseFilesEntry
	trees := map[string]bool{}
	for i, entry := range entries {
		if strings.HasPrefix(entry.Tree, abbreviated) {
			if trees[entry.Tree] = true; found == nil {
				found = &entries[i]
			}
		}
	}
	return found, onlyOne(len(trees), "set of base files", r, abbreviated)
}

// onlyOne returns the error for an abbreviation that n revisions begin with.
func onlyOne(n int, what string, r ref.Ref, abbreviated string) error {
	switch {
	case n == 1:
		return nil
	case n > 1:
		return &Error{Code: wire.CodeRevisionNotKept, Detail: fmt.Sprintf("%s is ambiguous: several kept revisions of %s begin with it", abbreviated, r)}
	}
	return &Error{Code: wire.CodeRevisionNotKept, Detail: fmt.Sprintf("the hub keeps no %s of %s that begins with %s", what, r, abbreviated)}
}

// ConfigRevision returns a project's config as it was with this revision. The error is
// revision_not_kept if the hub does not keep it, and unsupported_by_hub if it keeps none.
func (c *Client) ConfigRevision(ctx context.Context, r ref.Ref, revision string) (*wire.Config, error) {
	req := to(wire.OpGetConfig, r)
	req.query(url.Values{"revision": {revision}})
	var config wire.Config
	if _, err := c.send(ctx, req, &config); err != nil {
		return nil, err
	}
	if config.Revision != revision {
		// A hub of an earlier release ignores the parameter.
		return nil, c.older()
	}
	return &config, nil
}

// BaseFilesHistory returns the sets of base files that a project has and had, newest first.
func (c *Client) BaseFilesHistory(ctx context.Context, r ref.Ref) ([]wire.BaseFilesEntry, error) {
	var history wire.BaseFilesHistory
	_, err := c.send(ctx, to(wire.OpGetBaseFilesHistory, r), &history)
	return history.Entries, c.withoutHistory(err)
}

// BaseFilesRevision returns a set of base files from the history. The error is
// revision_not_kept if the hub does not keep it, and unsupported_by_hub if it cannot list it.
func (c *Client) BaseFilesRevision(ctx context.Context, r ref.Ref, digest string) (*wire.BaseFiles, error) {
	req := to(wire.OpGetBaseFiles, r)
	req.query(url.Values{"tree": {digest}})
	var set wire.BaseFiles
	if _, err := c.send(ctx, req, &set); err != nil {
		return nil, err
	}
	if set.Tree != digest {
		return nil, &Error{Code: CodeUnsupportedByHub, Detail: fmt.Sprintf("the hub %s does not list former base files", c.Origin())}
	}
	return &set, nil
}

// RestoreBaseFiles makes a set of base files from the history the project's set again,
// if its present one is current. The error is revision_not_kept if the hub does not keep
// that set, and revision_changed if the present one is another. Once restored, repeating
// it changes nothing.
func (c *Client) RestoreBaseFiles(ctx context.Context, r ref.Ref, tree, current string) (*wire.BaseFilesWritten, error) {
	req := to(wire.OpRestoreBaseFiles, r)
	if err := req.jsonBody(wire.RestoreBaseFiles{Tree: tree}); err != nil {
		return nil, err
	}
	req.set("If-Match", quote(current))
	var written wire.BaseFilesWritten
	_, err := c.send(ctx, req, &written)
	if HasCode(err, wire.CodeRevisionChanged) && lostBefore(err) {
		// An earlier attempt, whose response was lost, may be why.
		if p, again := c.Project(ctx, r); again == nil && p.BaseFiles != nil && p.BaseFiles.Tree == tree {
			return &wire.BaseFilesWritten{Project: r, Tree: tree, BaseFilesPushed: p.BaseFiles.Count}, nil
		}
	}
	return &written, err
}
