package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"example.com/projecthub/store/objects"
)

// In a backup all packs have their bodies, wherever these are kept, so that a backup and a
// restore also move them into the database, or out of it.

// packTable is the table of packs.
const packTable = "packs"

// objectsStep is the step that added objects to the schema.
const objectsStep = "0027"

// packRow points to the columns of a row of packs that concern its object.
type packRow struct{ account, object, size, body int }

func packColumns(columns []backupColumn) (p packRow, err error) {
	for name, at := range map[string]*int{"account": &p.account, "object": &p.object, "size": &p.size, "body": &p.body} {
		if *at = slices.IndexFunc(columns, func(c backupColumn) bool { return c.Name == name }); *at < 0 {
			return p, fmt.Errorf("packs have no column %s", name)
		}
	}
	return p, nil
}

// insideBackup gives a row of packs, of pointers to its values, the body that is in its object.
func (s *Store) insideBackup(ctx context.Context, columns []backupColumn, row []any) error {
	at, err := packColumns(columns)
	if err != nil {
		return err
	}
	account, object, size := row[at.account].(**string), row[at.object].(**string), row[at.size].(**int64)
	if **object == "" {
		return nil
	}
	body, err := s.object(ctx, **account, **object, **size)
	if errors.Is(err, errNoPack) {
		err = ErrMissing
	}
	if err != nil {
		return fmt.Errorf("object %s of %s: %w", **object, **account, err)
	}
	none, zero := "", int64(0)
	*row[at.body].(*[]byte), *object, *size = body, &none, &zero
	return nil
}

// uploading uploads the packs of a backup while its rows are stored. A nil one does nothing.
type uploading struct {
	to    objects.Store
	group errgroup.Group

	mu     sync.Mutex
	failed error
	keys   []string
}

func newUploading(to objects.Store) *uploading {
	u := &uploading{to: to}
	u.group.SetLimit(2 * uploads)
	return u
}

// add makes a row of packs name an object, which is uploaded from then on.
func (u *uploading) add(columns []backupColumn, row []any) error {
	at, err := packColumns(columns)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBackup, err)
	}
	account, ok := row[at.account].(*string)
	body, _ := row[at.body].([]byte)
	if !ok || account == nil {
		return fmt.Errorf("%w: a pack has no account", ErrBackup)
	}
	object, size := rand.Text(), int64(len(body))
	key := objectKey(*account, object)
	u.mu.Lock()
	u.keys = append(u.keys, key)
	failed := u.failed
	u.mu.Unlock()
	if failed != nil {
		return failed
	}
	u.group.Go(func() error {
		err := u.to.Put(context.Background(), key, body)
		u.mu.Lock()
		defer u.mu.Unlock()
		u.failed = errors.Join(u.failed, err)
		return err
	})
	row[at.object], row[at.size], row[at.body] = &object, &size, []byte{}
	return nil
}

// wait ends when all is uploaded.
func (u *uploading) wait() error {
	if u == nil {
		return nil
	}
	return u.group.Wait()
}

// abort removes what was uploaded, as far as that is possible: hub fsck finds what is left.
func (u *uploading) abort(ctx context.Context) error {
	if u == nil {
		return nil
	}
	_ = u.group.Wait()
	for _, key := range u.keys {
		if err := u.to.Remove(context.WithoutCancel(ctx), key); err != nil {
			return fmt.Errorf("remove what was uploaded: %w", err)
		}
	}
	return nil
}
