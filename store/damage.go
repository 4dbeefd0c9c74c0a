package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// ErrDamaged says that what is stored is not what was stored.
var ErrDamaged = errors.New("the stored bytes are damaged")

// DamagedBlob says that a blob is damaged. It is an ErrDamaged.
type DamagedBlob struct {
	Blob  Blob
	Cause error
}

func (e *DamagedBlob) Error() string {
	return fmt.Sprintf("blob %s of account %s: %v", e.Blob.SHA256, e.Blob.Account, e.Cause)
}

func (e *DamagedBlob) Unwrap() []error { return []error{ErrDamaged, e.Cause} }

// DamagedConfig says that the config of a project is damaged. It is an ErrDamaged.
type DamagedConfig struct{ Project ref.Ref }

// ConfigRemedy says how a damaged config comes right.
const ConfigRemedy = "replace it: tool push NAME --force, or tool restore NAME REVISION --force"

func (e *DamagedConfig) Error() string {
	return fmt.Sprintf("%v: the config of %s", ErrDamaged, e.Project)
}

func (e *DamagedConfig) Unwrap() error { return ErrDamaged }

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// damage is an object of an account that was found to be damaged.
type damage struct {
	bun.BaseModel `bun:"table:damage"`

	Account string `bun:",pk"`
	Object  string `bun:",pk"` // the digest of a blob, or the name of a project
	FoundAt Time
}

// Damaged returns what of account is known to be damaged: digests of blobs, and
// names of projects whose list of base files is.
func (v *View) Damaged(ctx context.Context, account string) (map[string]bool, error) {
	var objects []string
	err := v.db.NewSelect().Model((*damage)(nil)).Column("object").Where("account = ?", account).Scan(ctx, &objects)
	damaged := make(map[string]bool, len(objects))
	for _, o := range objects {
		damaged[o] = true
	}
	return damaged, err
}

// DamagedFiles reports whether it is known that a project's base files are damaged,
// or some of their blobs.
func (v *View) DamagedFiles(ctx context.Context, r ref.Ref) (bool, error) {
	damaged, err := v.Damaged(ctx, r.Account())
	if err != nil || len(damaged) == 0 || damaged[r.String()] {
		return damaged[r.String()], err
	}
	set, err := v.Snapshot(ctx, r)
	if err != nil {
		return false, err
	}
	files, err := set.List()
	return errors.Is(err, ErrDamaged) || len(damagedOf(files, damaged)) > 0, nil
}

// damagedOf returns the digests of files that are known to be damaged, sorted.
func damagedOf(files tree.Tree, damaged map[string]bool) (digests []string) {
	if len(damaged) == 0 {
		return nil
	}
	for _, e := range files {
		if damaged[e.SHA256] {
			digests = append(digests, e.SHA256)
		}
	}
	slices.Sort(digests)
	return slices.Compact(digests)
}

// recordDamage notes that objects of account are damaged, and returns those that
// were not known to be.
func (s *Store) recordDamage(ctx context.Context, account string, objects ...string) (found []string, err error) {
	err = s.Write(ctx, func(tx *Tx) error {
		found = nil
		for _, o := range objects {
			n, err := affected(tx.db.NewInsert().Model(&damage{Account: account, Object: o}).Value("found_at", "?", tx.nowExpr()).
				On("CONFLICT (account, object) DO NOTHING").Exec(ctx))
			if err != nil {
				return err
			}
			if n > 0 {
				found = append(found, o)
			}
		}
		return nil
	})
	return found, err
}

// repaired notes that objects of account are stored anew.
func (tx *Tx) repaired(ctx context.Context, account string, objects ...string) error {
	_, err := tx.db.NewDelete().Model((*damage)(nil)).Where("account = ?", account).Where("object IN (?)", bun.List(objects)).Exec(ctx)
	return err
}

// RecordDamagedFiles notes what of a project's base files is damaged, so that a push
// of the same files replaces it. For a *[DamagedBlob] it reads all their blobs
// once more, unless that one is known; any other ErrDamaged is about their list. It
// returns what was not known before.
func (s *Store) RecordDamagedFiles(ctx context.Context, r ref.Ref, files tree.Tree, cause error) (found []string, err error) {
	content, ok := errors.AsType[*DamagedBlob](cause)
	if !ok {
		return s.recordDamage(ctx, r.Account(), r.String())
	}
	var known map[string]bool
	err = s.Read(ctx, func(v *View) (err error) {
		known, err = v.Damaged(ctx, r.Account())
		return err
	})
	if err != nil || known[content.Blob.SHA256] {
		return nil, err
	}
	objects, err := s.damagedBlobs(ctx, r.Account(), files)
	if err != nil {
		return nil, err
	}
	return s.recordDamage(ctx, r.Account(), objects...)
}

// damagedBlobs reads the blobs of files and returns the digests of those that
// are damaged.
func (s *Store) damagedBlobs(ctx context.Context, account string, files tree.Tree) ([]string, error) {
	damaged := map[string]bool{}
	note := func(err error) error {
		if content, ok := errors.AsType[*DamagedBlob](err); ok {
			damaged[content.Blob.SHA256] = true
			return nil
		}
		if errors.Is(err, ErrMissing) {
			return nil // a plan says so anyway
		}
		return err
	}
	err := s.Read(ctx, func(v *View) error {
		reader := v.BlobReader(account)
		stored, err := reader.locate(ctx, files, note)
		if err != nil {
			return err
		}
		for _, f := range stored {
			if err := note(reader.Copy(ctx, io.Discard, f.Blob)); err != nil {
				return err
			}
		}
		return nil
	})
	return slices.Sorted(maps.Keys(damaged)), err
}

// removeDamaged removes, and returns, what is known to be damaged of blobs that
// are about to be stored anew. The caller has locked them.
func (tx *Tx) removeDamaged(ctx context.Context, account string, blobs []Blob) (removed map[string]bool, err error) {
	if len(blobs) == 0 {
		return nil, nil
	}
	damaged, err := tx.Damaged(ctx, account)
	if err != nil || len(damaged) == 0 {
		return nil, err
	}
	removed = map[string]bool{}
	var digests []string
	for _, c := range blobs {
		if damaged[c.SHA256] {
			removed[c.SHA256] = true
			digests = append(digests, c.SHA256)
		}
	}
	for part := range slices.Chunk(digests, chunk) {
		var streams []string
		err := tx.db.NewDelete().Model((*Blob)(nil)).Where("account = ?", account).Where("sha256 IN (?)", bun.List(part)).
			Returning("stream").Scan(ctx, &streams)
		if err != nil && !errors.Is(wrap(err), ErrNotFound) {
			return nil, err
		}
		if err := errors.Join(tx.repaired(ctx, account, part...), tx.streamsChanged(ctx, account, streams)); err != nil {
			return nil, err
		}
	}
	return removed, nil
}
