package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// BaseSet is the set of base files that a project holds. Absent: none was pushed.
type BaseSet struct {
	bun.BaseModel `bun:"table:base_sets"`

	Account string `bun:",pk"`
	Slug    string `bun:",pk"`
	BaseFilesState
	Files     []byte // the tree's canonical form
	UpdatedAt Time
	UpdatedBy string
}

// BaseFilesState is what can be said of a set without its list. Tree "" stands for no set.
type BaseFilesState struct {
	Tree  string // the set's digest
	Count int
	Bytes int64
}

// BaseSet returns the set of a project; ErrNotFound when none was pushed or there is no such project.
func (v *View) BaseSet(ctx context.Context, r ref.Ref) (*BaseSet, error) {
	b := &BaseSet{Account: r.Account(), Slug: r.Slug()}
	return b, wrap(v.db.NewSelect().Model(b).WherePK().Scan(ctx))
}

// List returns the files of a set; ErrDamaged when they are not those that its
// digest names.
func (b *BaseSet) List() (tree.Tree, error) {
	if b.Tree != "" && tree.DigestOf(b.Files) != b.Tree {
		return nil, fmt.Errorf("%w: the list of base files of @%s/%s", ErrDamaged, b.Account, b.Slug)
	}
	return tree.Read(b.Files)
}

// BaseSetSize returns the length of the list of files of a project's set, in bytes; ErrNotFound as for [View.BaseSet].
func (v *View) BaseSetSize(ctx context.Context, r ref.Ref) (size int64, err error) {
	err = v.one(ctx, &size, "SELECT length(files) FROM base_sets WHERE account = ? AND slug = ?", r.Account(), r.Slug())
	return size, err
}

// BaseTree returns the digest of the set that a project holds, "" for none;
// ErrNotFound when there is no such project.
func (v *View) BaseTree(ctx context.Context, r ref.Ref) (digest string, err error) {
	err = v.one(ctx, &digest, `SELECT COALESCE(b.tree, '')
		FROM projects AS p LEFT JOIN base_sets AS b ON b.account = p.account AND b.slug = p.slug
		WHERE p.account = ? AND p.slug = ?`, r.Account(), r.Slug())
	return digest, err
}

// Swap says what is to take the place of a project's base files.
type Swap struct {
	By        string
	OnlyFirst bool                                      // a set that is there is ErrSetExists
	Tree      string                                    // digest of the new set, "": whatever Next returns
	Allowed   func(current string) error                // checks the digest of the set that is there, "" for none; nil: any
	Base      string                                    // digest of the set that must be there, "": any or none
	Next      func(before tree.Tree) (tree.Tree, error) // the new set; before is not to be changed
	Brought   map[string]bool                           // digests of contents that were stored a moment ago; they are looked for only where they may be gone again
	Packs     []Pack                                    // to store with the set
	Contents  []Content                                 // that lie in Packs
}

// Swapped is what a swap did.
type Swapped struct {
	Before, After tree.Tree
	Unchanged     bool // the set was there already, and nothing was written
}

// ErrSetExists says that a project holds base files where none may be replaced.
var ErrSetExists = errors.New("the project holds base files")

// OutdatedError says that a swap was planned with what is no longer so: another
// set is there, or contents are not. Then the set stays.
type OutdatedError struct {
	Current string   // digest of the set that is there, "": none
	Missing []string // digests of the contents that the account lacks
}

func (e *OutdatedError) Error() string { return "the base files changed since the plan was made" }

// TreeError says that a set is not the one that its digest names.
type TreeError struct{ Is string }

func (e *TreeError) Error() string { return "the set is " + e.Is }

// SwapBaseFiles stores packs and contents, and replaces a project's base files, all
// at once. A set whose digest is that of the present one changes nothing, whatever
// its base. ErrNotFound when there is no such project; else ErrSetExists, an
// *OutdatedError, a *TreeError, a *SizeError, or that of Allowed or Next.
func (tx *Tx) SwapBaseFiles(ctx context.Context, r ref.Ref, s Swap) (*Swapped, error) {
	if err := tx.lockProject(ctx, r); err != nil {
		return nil, err
	}
	old, err := tx.BaseSet(ctx, r)
	there := err == nil
	switch {
	case err != nil && !errors.Is(err, ErrNotFound):
		return nil, err
	case there && s.OnlyFirst:
		return nil, ErrSetExists
	}
	if s.Allowed != nil {
		if err := s.Allowed(old.Tree); err != nil {
			return nil, err
		}
	}
	if s.Base != "" && s.Base != old.Tree && s.Tree != old.Tree {
		return nil, &OutdatedError{Current: old.Tree}
	}
	before, err := old.List()
	if errors.Is(err, ErrDamaged) && s.Base == "" { // the whole new set is known: it replaces the damaged one
		there, old, before, err = false, &BaseSet{}, nil, nil
	} else if errors.Is(err, ErrDamaged) {
		return nil, &OutdatedError{Current: old.Tree}
	}
	if err != nil {
		return nil, err
	}
	damaged, err := tx.Damaged(ctx, r.Account())
	if err != nil {
		return nil, err
	}
	for _, c := range s.Contents { // they replace what is damaged
		delete(damaged, c.SHA256)
	}
	unchanged := func() (*Swapped, error) {
		if missing := damagedOf(before, damaged); missing != nil {
			return nil, &OutdatedError{Current: old.Tree, Missing: missing}
		}
		return &Swapped{before, before, true}, tx.AddContents(ctx, r.Account(), s.Packs, s.Contents)
	}
	if there && s.Tree == old.Tree {
		return unchanged()
	}
	after, err := s.Next(before)
	if err != nil {
		return nil, err
	}
	set := &BaseSet{Account: r.Account(), Slug: r.Slug(), Files: after.Canonical(), UpdatedBy: s.By}
	set.BaseFilesState = BaseFilesState{Tree: tree.DigestOf(set.Files), Count: len(after), Bytes: after.Bytes()}
	switch {
	case s.Tree != "" && s.Tree != set.Tree:
		return nil, &TreeError{set.Tree}
	case there && set.Tree == old.Tree:
		return unchanged()
	}
	if missing := damagedOf(after, damaged); missing != nil {
		return nil, &OutdatedError{Current: old.Tree, Missing: missing}
	}
	missing, err := tx.exchange(ctx, r.Account(), before, after, s)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, &OutdatedError{Current: old.Tree, Missing: missing}
	}
	if damaged[r.String()] {
		if err := tx.repaired(ctx, r.Account(), r.String()); err != nil {
			return nil, err
		}
	}
	return &Swapped{before, after, false}, tx.putBaseSet(ctx, set)
}

// exchange stores what s adds, leases what else after needs beyond before, and starts
// the grace period of what it no longer needs. It returns what is missing, sorted.
//
// It locks all of these contents in one pass, in the order of their digests, so that
// pushes to the projects of an account never wait for each other in a circle.
func (tx *Tx) exchange(ctx context.Context, account string, before, after tree.Tree, s Swap) (missing []string, err error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	rows := uniqueByDigest(s.Contents)
	added := digestsOf(rows)
	missing, stale, err := tx.lookUp(ctx, account, tx.needed(before, after, s.Brought, added), now)
	if err != nil || len(missing) > 0 {
		return missing, err
	}
	touched := slices.Concat(added, stale)
	for _, e := range tree.DeltaOf(after, before).Put {
		touched = append(touched, e.SHA256)
	}
	slices.Sort(touched)
	gone, err := tx.touchAll(ctx, account, slices.Compact(touched), now)
	if err != nil {
		return nil, err
	}
	if missing = intersection(stale, gone); len(missing) > 0 {
		return missing, nil
	}
	return nil, tx.insertContents(ctx, account, s.Packs, rows, gone, now)
}

// needed returns the contents that after has beyond before, sizes by digest, without
// those that are added and those that were brought a moment ago.
func (v *View) needed(before, after tree.Tree, brought map[string]bool, added []string) map[string]int64 {
	if v.postgres() {
		// What it had not synced is gone when it was restarted meanwhile, unlike SQLite,
		// which stops with this process.
		brought = nil
	}
	needed := map[string]int64{}
	for _, e := range tree.DeltaOf(before, after).Put {
		if !brought[e.SHA256] {
			needed[e.SHA256] = e.Size
		}
	}
	for _, digest := range added {
		delete(needed, digest)
	}
	return needed
}

// putBaseSet writes a set's row.
func (tx *Tx) putBaseSet(ctx context.Context, s *BaseSet) error {
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

// freeBaseSet starts the time of grace of what only a project's set may need.
func (tx *Tx) freeBaseSet(ctx context.Context, r ref.Ref) error {
	set, err := tx.BaseSet(ctx, r)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	files, err := set.List()
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
