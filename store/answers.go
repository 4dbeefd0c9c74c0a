package store

import (
	"errors"
	"time"

	"example.com/projecthub/store/sqldb"
)

// Answer is the first answer to a request with an Idempotency-Key. Caller, Route and Key identify it.
type Answer struct {
	Caller     string // such as user:12 or bot:7
	Route      string // method and path
	Key        string
	BodyHash   string // of the request
	ResourceID int64  // that was created; 0: none
	Status     int    // 0: claimed, and not saved yet
	Location   string
	Body       []byte
}

// answersKept is how long an answer is repeated.
const answersKept = 24 * time.Hour

// FirstAnswer returns the saved answer with the key of a, nil if there is none. Once the resource that it created is
// deleted it is ignored, so that the request can create another one.
func (v View) FirstAnswer(a Answer) (*Answer, error) {
	first := a
	err := v.One(sqldb.Row(&first.BodyHash, &first.ResourceID, &first.Status, &first.Location, &first.Body),
		`SELECT a.body_hash, COALESCE(a.resource_id, 0), a.status, a.location, a.body
		FROM answers a LEFT JOIN resources r ON r.id = a.resource_id
		WHERE a.caller = ? AND a.route = ? AND a.key = ? AND a.status <> 0 AND a.created_at >= @now - ?
		AND COALESCE(r.deleted_at, 0) = 0`, a.Caller, a.Route, a.Key, answersKept.Microseconds())
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return &first, err
}

// ClaimAnswer claims the key of a for the transaction: another one that claims it waits until this one commits or
// rolls back. It returns nil if the request may run, else the first answer.
func (tx *Tx) ClaimAnswer(a Answer) (*Answer, error) {
	now := tx.Now()
	claimed, err := tx.change(`INSERT INTO answers (caller, route, key, body_hash, created_at, status, location, body)
		VALUES (?, ?, ?, ?, ?, 0, '', ?) ON CONFLICT (caller, route, key) DO UPDATE
		SET body_hash = excluded.body_hash, created_at = excluded.created_at, status = 0, resource_id = NULL
		WHERE answers.status = 0 OR answers.created_at < ?
		OR EXISTS (SELECT 1 FROM resources r WHERE r.id = answers.resource_id AND r.deleted_at <> 0)`,
		a.Caller, a.Route, a.Key, a.BodyHash, now, []byte{}, now.Add(-answersKept))
	if err != nil || claimed {
		return nil, err
	}
	return tx.FirstAnswer(a)
}

// SaveAnswer stores the answer whose key the transaction has claimed.
func (tx *Tx) SaveAnswer(a Answer) error {
	return tx.send(`UPDATE answers SET resource_id = ?, status = ?, location = ?, body = ?
		WHERE caller = ? AND route = ? AND key = ?`,
		orNull(a.ResourceID), a.Status, a.Location, a.Body, a.Caller, a.Route, a.Key)
}
