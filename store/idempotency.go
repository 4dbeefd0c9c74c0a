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
	Status    int // 0 within the transaction of the request; older hubs left it behind
	Header    []byte
	Body      []byte
}

// answersKept is how long an answer is repeated.
const answersKept = 24 * time.Hour

// FirstAnswer returns the answer that is stored for the key of a, nil for none.
func (v *View) FirstAnswer(ctx context.Context, a *Answer) (*Answer, error) {
	now, err := v.Now(ctx)
	if err != nil {
		return nil, err
	}
	first := &Answer{Caller: a.Caller, Method: a.Method, Path: a.Path, Key: a.Key}
	err = wrap(v.db.NewSelect().Model(first).WherePK().Where("status <> 0").Where("created_at >= ?", now.add(-answersKept)).Scan(ctx))
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return first, err
}

// ClaimAnswer claims the key of a for a transaction: another transaction that claims
// it waits until this one ends, however it ends. It returns nil when the request may
// run, and the first answer when there is one.
func (tx *Tx) ClaimAnswer(ctx context.Context, a *Answer) (*Answer, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	a.CreatedAt = now
	claim := *a
	claim.Status, claim.Header, claim.Body = 0, nil, nil
	n, err := affected(tx.db.NewInsert().Model(&claim).On("CONFLICT (caller, method, path, key) DO UPDATE").
		Set("body_hash = EXCLUDED.body_hash").Set("created_at = EXCLUDED.created_at").Set("status = 0").
		Where("answer.status = 0 OR answer.created_at < ?", now.add(-answersKept)).Exec(ctx))
	if err != nil || n == 1 {
		return nil, err
	}
	return tx.FirstAnswer(ctx, a)
}

// SaveAnswer stores the answer whose key the transaction has claimed.
func (tx *Tx) SaveAnswer(ctx context.Context, a *Answer) error {
	_, err := tx.db.NewUpdate().Model(a).Column("status", "header", "body").WherePK().Exec(ctx)
	return err
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
			expired := tx.skipLocked(tx.db.NewSelect().Model((*Answer)(nil)).Column("caller", "method", "path", "key").
				Where("created_at < ?", now.add(-answersKept)).Order("created_at").Limit(chunk))
			n, err = affected(tx.db.NewDelete().Model((*Answer)(nil)).Where("(caller, method, path, key) IN (?)", expired).Exec(ctx))
			return err
		})
		if purged += n; err != nil || n < chunk {
			return purged, err
		}
	}
}
