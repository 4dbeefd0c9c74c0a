package store

import (
	"time"

	"example.com/projecthub/store/sqldb"
)

// DraftLife is how long a draft can be read.
const DraftLife = 7 * 24 * time.Hour

// maxDrafts bounds how many drafts a project has. The newest ones are kept.
const maxDrafts = 50

// Draft is a change of a project's config that somebody has not saved but shared by a link.
type Draft struct {
	Hash      string // SHA-256 of the secret in the link
	Base      string // digest of the config that it changes
	Body      []byte // the change, as the JSON of a PATCH, in zstd
	CreatedBy string

	CreatedAt, ExpiresAt Time
}

// AddDraft stores a draft of a project, and sets its times. Of too many, the oldest are deleted.
func (tx *Tx) AddDraft(project int64, d *Draft) error {
	d.CreatedAt, d.ExpiresAt = tx.Now(), tx.Now().Add(DraftLife)
	err := tx.exec(`INSERT INTO drafts (hash, project_id, base, body, created_by, created_at, expires_at)
		VALUES (`+sqldb.List(7)+")", d.Hash, project, d.Base, d.Body, d.CreatedBy, d.CreatedAt, d.ExpiresAt)
	if err != nil {
		return err
	}
	return tx.exec(`DELETE FROM drafts WHERE project_id = ? AND hash NOT IN (
		SELECT hash FROM drafts WHERE project_id = ? ORDER BY expires_at DESC LIMIT ?)`,
		project, project, maxDrafts)
}

// Draft returns the draft of a project with this hash; ErrNotFound if there is none, or it has expired.
func (v View) Draft(project int64, hash string) (Draft, error) {
	d := Draft{Hash: hash}
	err := v.One(sqldb.Row(&d.Base, &d.Body, &d.CreatedBy, &d.CreatedAt, &d.ExpiresAt),
		`SELECT base, body, created_by, created_at, expires_at FROM drafts
		WHERE project_id = ? AND hash = ? AND expires_at > @now`, project, hash)
	return d, err
}

// DeleteDraft deletes a draft of a project, and reports whether there was one.
func (tx *Tx) DeleteDraft(project int64, hash string) (bool, error) {
	return tx.change("DELETE FROM drafts WHERE project_id = ? AND hash = ?", project, hash)
}
