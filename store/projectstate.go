package store

import (
	"context"

	"example.com/projecthub/hubclient/ref"
)

// ProjectState says which config and base files a project has, and who wrote them.
type ProjectState struct {
	Revision   string
	UpdatedBy  string
	UpdatedVia string
	Tree       string // "": no base files
	FilesBy    string
	FilesVia   string // "": not known
}

// ProjectState returns that of a project, by a few look-ups of keys; ErrNotFound when
// there is no such project.
func (v *View) ProjectState(ctx context.Context, r ref.Ref) (s ProjectState, err error) {
	err = v.one(ctx, &s, `SELECT c.revision, c.updated_by, c.updated_via, COALESCE(b.tree, '') AS tree, COALESCE(b.updated_by, '') AS files_by,
		COALESCE((SELECT h.updated_via FROM file_history AS h WHERE h.account = b.account AND h.slug = b.slug AND h.tree = b.tree
			ORDER BY h.n DESC LIMIT 1), '') AS files_via
		FROM configs AS c LEFT JOIN base_sets AS b ON b.account = c.account AND b.slug = c.slug
		WHERE c.account = ? AND c.slug = ?`, r.Account(), r.Slug())
	return s, err
}
