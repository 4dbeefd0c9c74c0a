package store

import (
	"context"
	"errors"
	"slices"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// Swap says what replaces a project's base files.
type Swap struct {
	Author
	CreateOnly bool                                      // an existing snapshot is ErrSnapshotExists
	Tree       string                                    // digest of the new snapshot, "": whatever Next returns
	Allowed    func(current string) error                // checks the digest of the present snapshot, "" for none; nil: any
	Base       string                                    // digest that the present snapshot must have, "": any or none
	Next       func(before tree.Tree) (tree.Tree, error) // returns the new tree; it must not change before
	Packs      []Pack                                    // to store with the snapshot
	Blobs      []Blob                                    // that are in Packs

	recent map[string]bool // digests of blobs that were stored a moment ago; they are looked for only where they may be gone again
}

// Swapped is what a swap did.
type Swapped struct {
	Before, After tree.Tree
	Unchanged     bool // the project had the snapshot already, and nothing was written
}

// ErrSnapshotExists says that a project has base files, which may not be replaced.
var ErrSnapshotExists = errors.New("the project has base files")

// OutdatedError says that a plan is outdated: the project has another snapshot, or
// blobs are missing. The snapshot is not replaced.
type OutdatedError struct {
	Current string   // digest of the present snapshot, "": none
	Missing []string // digests of the blobs that the account lacks
}

func (e *OutdatedError) Error() string { return "the base files changed since the plan was made" }

// TreeError says that a tree does not have the digest that was announced.
type TreeError struct{ Is string }

func (e *TreeError) Error() string { return "the digest of the files is " + e.Is }

// SwapSnapshot stores packs and blobs, and replaces a project's base files, in one
// step. A snapshot that the project has already changes nothing, whatever its base.
// ErrNotFound when there is no such project; else ErrSnapshotExists, an
// *OutdatedError, a *TreeError, a *SizeError, or the error of Allowed or Next.
func (tx *Tx) SwapSnapshot(ctx context.Context, r ref.Ref, s Swap) (*Swapped, error) {
	if err := tx.lockProject(ctx, r); err != nil {
		return nil, err
	}
	w := &swapping{tx: tx, ref: r, swap: s}
	if err := w.load(ctx); err != nil {
		return nil, err
	}
	if w.exists && s.Tree == w.old.Tree {
		return w.keep(ctx)
	}
	after, err := s.Next(w.before)
	if err != nil {
		return nil, err
	}
	next := &Snapshot{Account: r.Account(), Slug: r.Slug(), Files: after.Canonical(), UpdatedBy: s.By}
	next.BaseFilesState = BaseFilesState{Tree: tree.DigestOf(next.Files), Count: len(after), Bytes: after.Bytes()}
	switch {
	case s.Tree != "" && s.Tree != next.Tree:
		return nil, &TreeError{next.Tree}
	case w.exists && next.Tree == w.old.Tree:
		return w.keep(ctx)
	}
	return w.replace(ctx, next, after)
}

// swapping is a swap in progress.
type swapping struct {
	tx      *Tx
	ref     ref.Ref
	swap    Swap
	exists  bool // the project has a snapshot, which is not damaged
	old     *Snapshot
	before  tree.Tree       // of old
	damaged map[string]bool // what of the account is damaged, without the blobs that the swap adds
}

// load reads what the swap replaces, and checks the conditions of the swap.
func (w *swapping) load(ctx context.Context) error {
	var err error
	w.old, err = w.tx.Snapshot(ctx, w.ref)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	w.exists = err == nil
	if w.exists && w.swap.CreateOnly {
		return ErrSnapshotExists
	}
	if w.swap.Allowed != nil {
		if err := w.swap.Allowed(w.old.Tree); err != nil {
			return err
		}
	}
	if base := w.swap.Base; base != "" && base != w.old.Tree && w.swap.Tree != w.old.Tree {
		return w.outdated(nil)
	}
	w.before, err = w.old.List()
	switch {
	case errors.Is(err, ErrDamaged) && w.swap.Base == "": // the whole new tree is known: it replaces the damaged one
		w.exists, w.old, w.before = false, &Snapshot{}, nil
	case errors.Is(err, ErrDamaged):
		return w.outdated(nil)
	case err != nil:
		return err
	}
	if w.damaged, err = w.tx.Damaged(ctx, w.ref.Account()); err != nil {
		return err
	}
	for _, b := range w.swap.Blobs {
		delete(w.damaged, b.SHA256)
	}
	return nil
}

func (w *swapping) outdated(missing []string) error {
	return &OutdatedError{Current: w.old.Tree, Missing: missing}
}

// keep stores what the swap adds, and no snapshot.
func (w *swapping) keep(ctx context.Context) (*Swapped, error) {
	if missing := damagedOf(w.before, w.damaged); missing != nil {
		return nil, w.outdated(missing)
	}
	return &Swapped{w.before, w.before, true}, w.tx.AddBlobs(ctx, w.ref.Account(), w.swap.Packs, w.swap.Blobs)
}

// replace stores what the swap adds, and next, whose tree is after.
func (w *swapping) replace(ctx context.Context, next *Snapshot, after tree.Tree) (*Swapped, error) {
	history, err := w.tx.planFileHistory(ctx, w.ref, w.old)
	if err != nil {
		return nil, err
	}
	missing := damagedOf(after, w.damaged)
	if missing == nil {
		if missing, err = w.tx.exchange(ctx, w.ref.Account(), w.before, after, w.swap, history.freed); err != nil {
			return nil, err
		}
	}
	if len(missing) > 0 {
		return nil, w.outdated(missing)
	}
	if w.damaged[w.ref.String()] {
		if err := w.tx.repaired(ctx, w.ref.Account(), w.ref.String()); err != nil {
			return nil, err
		}
	}
	if err := w.tx.putSnapshot(ctx, next); err != nil {
		return nil, err
	}
	return &Swapped{w.before, after, false}, w.tx.addFiles(ctx, history, w.old, next, w.before, after, w.swap.Author)
}

// exchange stores what s adds, leases what else after needs beyond before, and starts
// the grace period of what it no longer needs and of what is freed. It returns what is
// missing, sorted.
//
// It locks those that are stored already in one pass, in the order of their digests,
// after it has inserted the others: see [Tx.insertBlobs].
func (tx *Tx) exchange(ctx context.Context, account string, before, after tree.Tree, s Swap, freed []string) (missing []string, err error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	rows := uniqueByDigest(s.Blobs)
	missing, stale, err := tx.lookUp(ctx, account, tx.needed(before, after, s.recent, digestsOf(rows)), now)
	if err != nil || len(missing) > 0 {
		return missing, err
	}
	stored, err := tx.insertBlobs(ctx, account, rows, now)
	if err != nil {
		return nil, err
	}
	added := digestsOf(stored)
	touched := slices.Concat(added, stale, freed)
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
	if len(intersection(added, gone)) > 0 {
		return nil, errRemoved
	}
	return nil, tx.storePacks(ctx, account, s.Packs, stored, now)
}

// needed returns the blobs that after has beyond before, sizes by digest, without
// those that are added now and those that are recent.
func (v *View) needed(before, after tree.Tree, recent map[string]bool, added []string) map[string]int64 {
	if v.postgres() {
		// Blobs that it had not synced are gone if it was restarted meanwhile. SQLite stops
		// with this process.
		recent = nil
	}
	needed := map[string]int64{}
	for _, e := range tree.DeltaOf(before, after).Put {
		if !recent[e.SHA256] {
			needed[e.SHA256] = e.Size
		}
	}
	for _, digest := range added {
		delete(needed, digest)
	}
	return needed
}
