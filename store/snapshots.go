package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// Snapshot is the base files of a project: a tree with its digest. A project to which
// none were pushed has no row.
type Snapshot struct {
	bun.BaseModel `bun:"table:base_sets"`

	Account string `bun:",pk"`
	Slug    string `bun:",pk"`
	BaseFilesState
	Files     []byte // the tree's canonical form
	UpdatedAt Time
	UpdatedBy string
}

// BaseFilesState describes a snapshot without its files. Tree "" means no snapshot.
type BaseFilesState struct {
	Tree  string // the snapshot's digest
	Count int
	Bytes int64
}

// Snapshot returns the snapshot of a project; ErrNotFound when it has none, or when
// there is no such project.
func (v *View) Snapshot(ctx context.Context, r ref.Ref) (*Snapshot, error) {
	b := &Snapshot{Account: r.Account(), Slug: r.Slug()}
	return b, wrap(v.db.NewSelect().Model(b).WherePK().Scan(ctx))
}

// List returns the files of a snapshot; ErrDamaged when they are not those that its
// digest names.
func (b *Snapshot) List() (tree.Tree, error) {
	if b.Tree != "" && tree.DigestOf(b.Files) != b.Tree {
		return nil, fmt.Errorf("%w: the list of base files of @%s/%s", ErrDamaged, b.Account, b.Slug)
	}
	return tree.Read(b.Files)
}

// SnapshotSize returns the length of [Snapshot.Files] of a project, in bytes;
// ErrNotFound as for [View.Snapshot].
func (v *View) SnapshotSize(ctx context.Context, r ref.Ref) (size int64, err error) {
	err = v.one(ctx, &size, "SELECT length(files) FROM base_sets WHERE account = ? AND slug = ?", r.Account(), r.Slug())
	return size, err
}

// SnapshotDigest returns the digest of a project's snapshot, "" for none;
// ErrNotFound when there is no such project.
func (v *View) SnapshotDigest(ctx context.Context, r ref.Ref) (digest string, err error) {
	err = v.one(ctx, &digest, `SELECT COALESCE(b.tree, '')
		FROM configs AS p LEFT JOIN base_sets AS b ON b.account = p.account AND b.slug = p.slug
		WHERE p.account = ? AND p.slug = ?`, r.Account(), r.Slug())
	return digest, err
}

// putSnapshot writes a snapshot's row.
func (tx *Tx) putSnapshot(ctx context.Context, s *Snapshot) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	s.UpdatedAt = now
	return tx.execLarge(ctx, `INSERT INTO base_sets (account, slug, tree, count, bytes, files, updated_at, updated_by)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (account, slug) DO UPDATE SET tree = excluded.tree, count = excluded.count, bytes = excluded.bytes,
			files = excluded.files, updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
		s.Account, s.Slug, s.Tree, int64(s.Count), s.Bytes, s.Files, int64(s.UpdatedAt), s.UpdatedBy)
}

// freeSnapshot starts the grace period of what only a project's snapshot may need.
func (tx *Tx) freeSnapshot(ctx context.Context, r ref.Ref) error {
	snapshot, err := tx.Snapshot(ctx, r)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	files, err := snapshot.List()
	if errors.Is(err, ErrDamaged) {
		return nil // what it named is collected some time after it was last touched
	}
	if err != nil {
		return err
	}
	digests := make([]string, len(files))
	for i, e := range files {
		digests[i] = e.SHA256
	}
	return tx.touch(ctx, r.Account(), digests)
}
