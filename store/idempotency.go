package store

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"
)

// Answer is the first answer to a request that bore an Idempotency-Key.
type Answer struct {
	bun.BaseModel `bun:"table:answers"`

	Caller    string `bun:",pk"`
	Method    string `bun:",pk"`
	Path      string `bun:",pk"`
	Key       string `bun:",pk"`
	BodyHash  string
	CreatedAt Time
	Status    int // 0 while the request is running
	Header    []byte
	Body      []byte
}

const (
	answersKept = 24 * time.Hour
	// A reservation that is older was left behind by a hub that died: no request runs that long.
	reservationKept = 2 * time.Minute
)

// ReserveAnswer claims the key of a. It returns nil when the request may run, and
// the first answer, perhaps still with Status 0, when it must not.
func (tx *Tx) ReserveAnswer(ctx context.Context, a *Answer) (*Answer, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	_, err = tx.db.NewDelete().Model(a).WherePK().
		Where("created_at < ? OR (status = 0 AND created_at < ?)", now.add(-answersKept), now.add(-reservationKept)).Exec(ctx)
	if err != nil {
		return nil, err
	}
	a.CreatedAt = now
	res, err := tx.db.NewInsert().Model(a).On("CONFLICT (caller, method, path, key) DO NOTHING").Exec(ctx)
	if err != nil {
		return nil, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return nil, err
	}
	first := &Answer{Caller: a.Caller, Method: a.Method, Path: a.Path, Key: a.Key}
	return first, wrap(tx.db.NewSelect().Model(first).WherePK().Scan(ctx))
}

// PurgeAnswers removes the answers that have expired, a bounded number in each
// transaction, and returns how many there were.
func (s *Store) PurgeAnswers(ctx context.Context) (purged int, err error) {
	for {
		n := 0
		err := s.Write(ctx, func(tx *Tx) error {
			now, err := tx.Now(ctx)
			if err != nil {
				return err
			}
			res, err := tx.db.NewRaw(`DELETE FROM answers WHERE (caller, method, path, key) IN (
				SELECT caller, method, path, key FROM answers WHERE created_at < ? ORDER BY created_at LIMIT ?`+tx.skipLocked()+`)`,
				now.add(-answersKept), chunk).Exec(ctx)
			if err != nil {
				return err
			}
			rows, err := res.RowsAffected()
			n = int(rows)
			return err
		})
		if purged += n; err != nil || n < chunk {
			return purged, err
		}
	}
}

// ErrReservationLost says that a reserved key was given to another request meanwhile.
var ErrReservationLost = errors.New("the reservation of the idempotency key has run out")

// SaveAnswer completes a reservation, in the transaction of what it answers.
func (tx *Tx) SaveAnswer(ctx context.Context, a *Answer) error {
	res, err := tx.db.NewUpdate().Model(a).Column("status", "header", "body").WherePK().
		Where("status = 0").Where("created_at = ?", a.CreatedAt).Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return ErrReservationLost
}

// DropAnswer gives a reserved key back after a failure that is not to be repeated.
func (tx *Tx) DropAnswer(ctx context.Context, a *Answer) error {
	_, err := tx.db.NewDelete().Model(a).WherePK().Where("status = 0").Where("created_at = ?", a.CreatedAt).Exec(ctx)
	return err
}
