package store

import (
	"slices"

	"example.com/projecthub/store/sqldb"
)

// usesRows is how many ids an UPDATE has.
const usesRows = 64

// MarkUsed stores that tokens and sessions, by id, were used a moment ago.
func (tx *Tx) MarkUsed(tokens, sessions []int64) error {
	err := tx.markUsed("UPDATE tokens SET used_at = ? WHERE id IN (SELECT id FROM tokens WHERE id IN (", tokens)
	if err != nil {
		return err
	}
	return tx.markUsed("UPDATE sessions SET seen_at = ? WHERE id IN (SELECT id FROM sessions WHERE id IN (", sessions)
}

func (tx *Tx) markUsed(text string, ids []int64) error {
	slices.Sort(ids) // they are locked in their order, as by a revocation, so that none waits for the other
	for part := range slices.Chunk(ids, usesRows) {
		args := padded(part)
		err := tx.exec(text+sqldb.List(len(args))+") ORDER BY id @lock)", append([]any{tx.Now()}, args...)...)
		if err != nil {
			return err
		}
	}
	return nil
}
