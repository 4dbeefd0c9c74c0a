package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/store/objects"
)

// Packs can be kept outside the database, as objects. A row of packs never names an object
// that is missing, and no object is left that no row names or will name, because
//
//   - a name is in unused_objects, durably, before its object is uploaded;
//   - the transaction that stores the pack removes the name from there, and fails if a
//     collection has taken the object;
//   - the transaction that removes the pack adds the name again;
//   - a collection takes objects that were unused for the grace period, by a mark in a
//     transaction of its own, and removes them after it.
//
// So there is no list of a bucket to compare with, and no clock to trust.

// unusedObject is an object that no pack names.
type unusedObject struct {
	bun.BaseModel `bun:"table:unused_objects"`

	Account  string `bun:",pk"`
	Name     string `bun:",pk"`
	UnusedAt Time
	Removing bool // no pack may name it anymore
}

// packKeys begins the keys of all packs.
const packKeys = "packs/"

// objectKey returns the key of an object, in one of many directories of its account.
func objectKey(account, name string) string {
	return packKeys + account + "/" + name[:min(2, len(name))] + "/" + name
}

// uploads is how many objects of one batch are uploaded at once.
const uploads = 4

// upload uploads the bodies of packs, unless packs are in the database, and returns the
// packs without them. It leaves out those that are uploaded already.
func (s *Store) upload(ctx context.Context, account string, packs []Pack) ([]Pack, error) {
	if s.objects == nil {
		return packs, nil
	}
	uploaded := make([]Pack, len(packs))
	var names []string
	for i, p := range packs {
		if uploaded[i] = p; p.Object == "" {
			uploaded[i].Object, uploaded[i].Size, uploaded[i].Body = rand.Text(), int64(len(p.Body)), []byte{}
			names = append(names, uploaded[i].Object)
		}
	}
	if len(names) == 0 {
		return uploaded, nil
	}
	outside, err := s.provenObjects(ctx)
	if err != nil {
		return nil, err
	}
	err = s.Write(ctx, func(tx *Tx) error { return tx.unuseObjects(ctx, account, names...) })
	if err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uploads)
	for i, p := range packs {
		if p.Object == "" {
			group.Go(func() error { return outside.Put(ctx, objectKey(account, uploaded[i].Object), p.Body) })
		}
	}
	return uploaded, group.Wait()
}

// unuseObjects notes that no pack names objects of account, from now on.
func (tx *Tx) unuseObjects(ctx context.Context, account string, names ...string) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	rows := make([]unusedObject, len(names))
	for i, name := range names {
		rows[i] = unusedObject{Account: account, Name: name, UnusedAt: now}
	}
	_, err = tx.db.NewInsert().Model(&rows).Exec(ctx)
	return err
}

// Why packs are not stored.
var (
	errNotUploaded = errors.New("packs are in an object store, and this one was not uploaded")
	errTaken       = fmt.Errorf("%w: the upload took longer than the grace period", ErrUnavailable)
)

// useObjects notes that packs, which are about to be stored, name their objects.
func (tx *Tx) useObjects(ctx context.Context, account string, packs []Pack) error {
	var names []string
	for _, p := range packs {
		if p.Object != "" {
			names = append(names, p.Object)
		} else if tx.store.objects != nil {
			return errNotUploaded
		}
	}
	if len(names) == 0 {
		return nil
	}
	n, err := affected(tx.db.NewDelete().Model((*unusedObject)(nil)).Where("account = ?", account).
		Where("name IN (?)", bun.List(names)).Where("NOT removing").Exec(ctx))
	if err == nil && n < len(names) {
		err = errTaken
	}
	return err
}

// replacePack stores another body of a pack, which has the same content, unless the pack
// was removed or replaced meanwhile. object is the one that it had.
func (tx *Tx) replacePack(ctx context.Context, account, object string, p Pack) error {
	n, err := affected(tx.execLargeResult(ctx, "UPDATE packs SET body = ?, object = ?, size = ? WHERE account = ? AND stream = ? AND start = ? AND object = ?",
		p.Body, p.Object, p.Size, account, p.Stream, p.Start, object))
	if err != nil || n == 0 || p.Object == "" {
		return err
	}
	if err := tx.useObjects(ctx, account, []Pack{p}); err != nil || object == "" {
		return err
	}
	return tx.unuseObjects(ctx, account, object)
}

// maxObject bounds what is read of an object: a pack that no encoder makes smaller.
const maxObject = frame.MaxSize + 64<<10

// object returns the body of a pack. The error is errNoPack, ErrDamaged, or the object
// store's.
func (s *Store) object(ctx context.Context, account, name string, size int64) ([]byte, error) {
	if size > maxObject {
		return nil, fmt.Errorf("%w: object %s has %d bytes", ErrDamaged, name, size)
	}
	outside, err := s.provenObjects(ctx)
	if err != nil {
		return nil, err
	}
	body, err := outside.Get(ctx, objectKey(account, name), size)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errNoPack
	case errors.Is(err, objects.ErrSize):
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return body, err
}

// objects removes the objects that no pack has named for the grace period.
func (c *collection) objects(ctx context.Context) error {
	if c.store.objects == nil {
		return nil
	}
	outside, err := c.store.provenObjects(ctx)
	if err != nil {
		return err
	}
	for {
		taken, err := c.takeObjects(ctx)
		if err != nil || len(taken) == 0 {
			return err
		}
		group, removing := errgroup.WithContext(ctx)
		group.SetLimit(uploads)
		for _, o := range taken {
			group.Go(func() error { return outside.Remove(removing, objectKey(o.Account, o.Name)) })
		}
		if err := group.Wait(); err != nil {
			return err // the next collection takes them again
		}
		err = c.store.Write(ctx, func(tx *Tx) error {
			_, err := tx.db.NewDelete().Model(&taken).WherePK().Exec(ctx)
			return err
		})
		if err != nil {
			return err
		}
		c.Objects += len(taken)
	}
}

// takeObjects marks a few objects, which no pack can name from then on.
func (c *collection) takeObjects(ctx context.Context) (taken []unusedObject, err error) {
	err = c.store.Write(ctx, func(tx *Tx) error {
		taken = nil
		release, free, err := tx.takeFromBackups(ctx)
		if err != nil || !free {
			return err
		}
		defer release()
		var oldest []unusedObject
		err = tx.db.NewSelect().Model(&oldest).Where("unused_at < ?", c.cutoff).Order("unused_at", "account", "name").Limit(streamsPage).Scan(ctx)
		if err != nil || len(oldest) == 0 {
			return err
		}
		// A push may have stored its pack since.
		err = tx.db.NewUpdate().Model(&oldest).Set("removing = ?", true).WherePK().Returning("account, name").Scan(ctx, &taken)
		if errors.Is(wrap(err), ErrNotFound) {
			err = nil
		}
		return err
	})
	return taken, err
}
