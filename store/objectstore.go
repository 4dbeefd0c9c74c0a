package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/uptrace/bun"

	"example.com/projecthub/store/objects"
)

// objectStore is the object store that a database was made with.
type objectStore struct {
	bun.BaseModel `bun:"table:object_store"`

	N       int `bun:",pk"` // 1
	ID      string
	Address string // as it was at first; the same objects may be elsewhere by now
}

// markKey is the key of the object with the id of the database's object store.
const markKey = "projecthub-objects"

// markSize is the length of an id.
const markSize = 26

// OtherObjectsError says that a database was made with another object store than the one
// that was given, or with none.
type OtherObjectsError struct {
	Made  string // address of the store that the database was made with, "": none
	Given string // address that was given, "": none
	why   string
}

func (e *OtherObjectsError) Error() string { return e.why }

// UseObjects makes sure that packs are where the options of [Open] say. A database without
// accounts takes the object store that it is given for good; any other one has to be given
// the one that it was made with: else the error is an *[OtherObjectsError]. ErrObjects when
// the object store does not answer: then it is asked again before it is used.
func (s *Store) UseObjects(ctx context.Context) error {
	made, err := s.madeWith(ctx)
	switch {
	case err != nil:
		return err
	case made == nil && s.objects == nil:
		return nil
	case s.objects == nil:
		return &OtherObjectsError{made.Address, "", "the blobs of this database are in " + made.Address}
	case made != nil:
		_, err := s.provenObjects(ctx)
		return err
	}
	return s.adoptObjects(ctx)
}

// WriteObjectMetrics writes the metrics of the requests to the object store, if there is one.
func (s *Store) WriteObjectMetrics(w io.Writer) {
	if s.objects != nil {
		s.objects.WriteMetrics(w)
	}
}

// madeWith returns the object store that the database was made with, nil for none.
func (s *Store) madeWith(ctx context.Context) (*objectStore, error) {
	made := &objectStore{}
	err := s.Read(ctx, func(v *View) error { return v.db.NewSelect().Model(made).Limit(1).Scan(ctx) })
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return made, err
}

// adoptObjects makes an object store that of a database without accounts.
func (s *Store) adoptObjects(ctx context.Context) error {
	other := &OtherObjectsError{"", s.objects.String(), s.objects.String() + " contains the blobs of another hub"}
	if _, err := s.objects.Get(ctx, markKey, markSize); err == nil {
		return other
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := s.Write(ctx, func(tx *Tx) error {
		if any, err := tx.hasAccounts(ctx); err != nil {
			return err
		} else if any {
			other.why = "the blobs of this database are in the database"
			return other
		}
		// Another hub may start at the same time.
		row := &objectStore{N: 1, ID: rand.Text(), Address: s.objects.String()}
		_, err := tx.db.NewInsert().Model(row).On("CONFLICT (n) DO NOTHING").Exec(ctx)
		return err
	})
	if err != nil {
		return err
	}
	_, err = s.provenObjects(ctx)
	return err
}

func (v *View) hasAccounts(ctx context.Context) (bool, error) {
	return v.db.NewSelect().Model((*Account)(nil)).Limit(1).Exists(ctx)
}

// provenObjects returns the object store, once it has shown to be that of the database:
// an empty directory where none is mounted, or another bucket, would look as if every
// pack was lost.
func (s *Store) provenObjects(ctx context.Context) (objects.Store, error) {
	if s.objects == nil {
		return nil, errors.New("the blobs are in an object store, which this hub was not given")
	}
	if s.objectsProven.Load() {
		return s.objects, nil
	}
	made, err := s.madeWith(ctx)
	if err != nil {
		return nil, err
	}
	if made == nil {
		return nil, &OtherObjectsError{"", s.objects.String(), "the blobs of this database are in the database"}
	}
	if err := s.prove(ctx, made); err != nil {
		return nil, err
	}
	s.objectsProven.Store(true)
	return s.objects, nil
}

func (s *Store) prove(ctx context.Context, made *objectStore) error {
	other := &OtherObjectsError{made.Address, s.objects.String(), s.objects.String() + " does not contain the blobs of this database"}
	mark, err := s.objects.Get(ctx, markKey, markSize)
	switch {
	case err == nil && string(mark) == made.ID:
		return nil
	case err == nil, errors.Is(err, objects.ErrSize):
		return other
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", s.objects, err)
	}
	var used bool
	err = s.Read(ctx, func(v *View) (err error) {
		used, err = v.hasAccounts(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if used {
		return other
	}
	return s.objects.Put(ctx, markKey, []byte(made.ID)) // a moment ago, it was made that of this database
}
