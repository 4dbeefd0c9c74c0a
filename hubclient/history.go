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

// EachConfigEntry calls f with the history of a project's config, newest first, until f returns false.
func (c *Client) EachConfigEntry(ctx context.Context, r ref.Ref, f func(wire.ConfigEntry) bool) error {
	return eachItem(ctx, c, to(wire.OpGetConfigHistory, r), "", func(p *wire.ConfigHistory) ([]wire.ConfigEntry, string) {
		return p.Entries, p.NextCursor
	}, f)
}

// FindConfigEntry returns an entry of the history of a project's config: by its number, such as r12; by how
// many are newer, as in latest~1; or by its revision, in full or abbreviated, of which it returns the newest
// entry. The error is revision_not_kept unless typed means exactly one revision.
func (c *Client) FindConfigEntry(ctx context.Context, r ref.Ref, typed string) (*wire.ConfigEntry, error) {
	var found []wire.ConfigEntry
	isExact := tree.ValidDigest(typed) || strings.ContainsAny(typed, "rl") // which no digest contains
	newer := 0
	err := c.EachConfigEntry(ctx, r, func(entry wire.ConfigEntry) bool {
		isMeant := isTyped(typed, entry.Revision, entry.Number, newer)
		newer++
		if isMeant && (len(found) == 0 || found[0].Revision != entry.Revision) {
			found = append(found, entry)
		}
		return len(found) < 2 && !(isExact && len(found) == 1)
	})
	if err != nil {
		return nil, err
	}
	if err := onlyOne(len(found), "revision of the config", r, typed); err != nil {
		return nil, err
	}
	return &found[0], nil
}

// FindBaseFilesEntry is [Client.FindConfigEntry] among entries of the history of base files, newest first.
func FindBaseFilesEntry(entries []wire.BaseFilesEntry, r ref.Ref, typed string) (*wire.BaseFilesEntry, error) {
	var found *wire.BaseFilesEntry
	trees := map[string]bool{}
	for i, entry := range entries {
		if !isTyped(typed, entry.Tree, entry.Number, i) {
			continue
		}
		trees[entry.Tree] = true
		if found == nil {
			found = &entries[i]
		}
	}
	return found, onlyOne(len(trees), "set of base files", r, typed)
}

// isTyped reports whether an entry was typed: by its number, by its revision, or by how many are newer.
func isTyped(typed, revision string, number int64, newer int) bool {
	isLatest := typed == "latest" && newer == 0 || typed == "latest~"+strconv.Itoa(newer)
	return isLatest || strings.HasPrefix(revision, typed) || typed == "r"+strconv.FormatInt(number, 10)
}

// onlyOne returns the error for what was typed if it means another number n of revisions than one.
func onlyOne(n int, what string, r ref.Ref, typed string) error {
	detail := fmt.Sprintf("the hub keeps no %s of %s that begins with %s", what, r, typed)
	switch {
	case n == 1:
		return nil
	case strings.HasPrefix(typed, "r"):
		detail = fmt.Sprintf("the hub keeps no %s of %s with the number %s", what, r, typed)
	case strings.HasPrefix(typed, "l"):
		detail = fmt.Sprintf("the hub keeps no %s of %s as old as %s", what, r, typed)
	case n > 1:
		detail = fmt.Sprintf("%s is ambiguous: several kept revisions of %s begin with it", typed, r)
	}
	return &Error{Code: wire.CodeRevisionNotKept, Detail: detail}
}

// ConfigRevision returns a project's config as it was with this revision. The error is
// revision_not_kept if the hub does not keep it.
func (c *Client) ConfigRevision(ctx context.Context, r ref.Ref, revision string) (*wire.Config, error) {
	req := to(wire.OpGetConfig, r).query(url.Values{"revision": {revision}})
	config, err := result[wire.Config](ctx, c, req)
	if err == nil && config.Revision != revision {
		return nil, c.notAHub(http.StatusOK, "it returned another revision")
	}
	return config, err
}

// BaseFilesHistory returns the sets of base files that a project has and had, newest first.
func (c *Client) BaseFilesHistory(ctx context.Context, r ref.Ref) ([]wire.BaseFilesEntry, error) {
	history, err := result[wire.BaseFilesHistory](ctx, c, to(wire.OpGetBaseFilesHistory, r))
	return history.Entries, err
}

// BaseFilesRevision returns a set of base files from the history. The error is
// revision_not_kept if the hub does not keep it.
func (c *Client) BaseFilesRevision(ctx context.Context, r ref.Ref, digest string) (*wire.BaseFiles, error) {
	set, err := result[wire.BaseFiles](ctx, c, to(wire.OpGetBaseFiles, r).query(url.Values{"tree": {digest}}))
	if err == nil && set.Tree != digest {
		return nil, c.notAHub(http.StatusOK, "it returned another set of base files")
	}
	return set, err
}

// RestoreBaseFiles makes a set of base files from the history the project's set again,
// if its present one is current. The error is revision_not_kept if the hub does not keep
// that set, and revision_changed if the present one is another. Once restored, repeating
// it changes nothing.
func (c *Client) RestoreBaseFiles(
	ctx context.Context, r ref.Ref, tree, current string,
) (*wire.BaseFilesWritten, error) {
	req := to(wire.OpRestoreBaseFiles, r).match(current).json(wire.RestoreBaseFiles{Tree: tree})
	written, err := result[wire.BaseFilesWritten](ctx, c, req)
	if e, ok := errors.AsType[*Error](err); ok && e.mayHaveWritten() && e.Current.Revision == tree {
		return &wire.BaseFilesWritten{Project: r, Tree: tree}, nil
	}
	return written, err
}

// LastEdit is the newest write of a project, as far as it replaced something: its config, its base
// files, or both if one push wrote both.
type LastEdit struct {
	wire.Edit                      // of that write
	Config    *wire.ConfigEntry    // nil: it replaced no config
	BaseFiles *wire.BaseFilesEntry // nil: it replaced no base files
}

// LastEdit returns the newest write of a project; both of its parts are nil if it replaced nothing.
func (c *Client) LastEdit(ctx context.Context, r ref.Ref) (last LastEdit, err error) {
	newest := to(wire.OpGetConfigHistory, r).query(url.Values{"limit": {"1"}})
	configs, err := result[wire.ConfigHistory](ctx, c, newest)
	if err != nil {
		return last, err
	}
	files, err := c.BaseFilesHistory(ctx, r)
	if err != nil {
		return last, err
	}
	if len(configs.Entries) > 0 {
		last.Config = &configs.Entries[0]
	}
	if len(files) > 0 {
		last.BaseFiles = &files[0]
	}
	switch config, set := last.Config, last.BaseFiles; {
	case config == nil || set == nil || config.Push != "" && config.Push == set.Push:
	case config.Number > set.Number:
		last.BaseFiles = nil
	default:
		last.Config = nil
	}
	if last.Config != nil && last.Config.Parent == "" {
		last.Config = nil
	}
	if last.BaseFiles != nil && last.BaseFiles.Parent == "" {
		last.BaseFiles = nil
	}
	switch {
	case last.Config != nil:
		last.Edit = last.Config.Edit
	case last.BaseFiles != nil:
		last.Edit = last.BaseFiles.ConfigEntry().Edit
	}
	return last, nil
}
