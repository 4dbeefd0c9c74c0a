package store

import (
	"context"
	"errors"
	"time"

	"example.com/projecthub/store/sqldb"
)

// KeptDeleted is how long a deleted resource can be restored. Its name is free at once.
const KeptDeleted = 30 * 24 * time.Hour

const (
	resourceColumns = `r.id, r.account_id, a.name, r.kind, r.slug, COALESCE(p.visibility, ''), r.created_at, r.created_by`
	resourceTables  = ` FROM resources r JOIN accounts a ON a.id = r.account_id LEFT JOIN projects p ON p.id = r.id `
)

func resourceFields(r *Resource) []any {
	return sqldb.Row(&r.ID, &r.AccountID, &r.Account, &r.Kind, &r.Slug, &r.Visibility, &r.CreatedAt, &r.CreatedBy)
}

// ResourceByName returns a resource that is not deleted, or ErrNotFound. It checks no rights: see [View.Access].
func (v View) ResourceByName(account, kind, slug string) (r Resource, err error) {
	err = v.One(resourceFields(&r), "SELECT "+resourceColumns+resourceTables+
		"WHERE a.name = ? AND r.kind = ? AND r.slug = ? AND r.deleted_at = 0", account, kind, slug)
	return r, err
}

// takeName deletes the former name of another resource, once a resource has been given that name.
func (tx *Tx) takeName(account int64, kind, slug string) error {
	return tx.send("DELETE FROM renames WHERE account_id = ? AND kind = ? AND slug = ?", account, kind, slug)
}

// AddResource adds a resource; ErrExists if the name is taken.
func (tx *Tx) AddResource(account int64, kind, slug, by string) (id int64, err error) {
	err = tx.One(sqldb.Row(&id), `INSERT INTO resources (account_id, kind, slug, created_at, created_by)
		VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`, account, kind, slug, tx.Now(), by)
	if errors.Is(err, ErrNotFound) {
		err = ErrExists
	}
	if err == nil {
		err = tx.takeName(account, kind, slug)
	}
	return id, err
}

// Trashed is a resource that was deleted and can be restored.
type Trashed struct {
	Resource
	DeletedAt Time
	DeletedBy string
}

// KeptUntil returns until when the resource can be restored. Then it is purged.
func (t Trashed) KeptUntil() Time { return t.DeletedAt.Add(KeptDeleted) }

func trashedFields(t *Trashed) []any {
	return append(resourceFields(&t.Resource), &t.DeletedAt, &t.DeletedBy)
}

const selectTrashed = "SELECT " + resourceColumns + ", r.deleted_at, r.deleted_by" + resourceTables

// Trashed returns the resource that was deleted last under that name, or ErrNotFound.
func (v View) Trashed(account int64, kind, slug string) (t Trashed, err error) {
	err = v.One(trashedFields(&t), selectTrashed+`WHERE r.account_id = ? AND r.kind = ? AND r.slug = ?
		AND r.deleted_at <> 0 ORDER BY r.deleted_at DESC, r.id DESC LIMIT 1`, account, kind, slug)
	return t, err
}

// Trash returns a page of the deleted resources of a kind, ordered by account and slug: for each name the one that
// Trashed returns.
func (v View) Trash(kind string, accounts []string, after Name, limit int) ([]Trashed, error) {
	ofThese, args := in(accounts)
	return sqldb.All(v, trashedFields, selectTrashed+"WHERE a.name "+ofThese+` AND r.kind = ? AND r.deleted_at <> 0
		AND r.id = (SELECT n.id FROM resources n WHERE n.account_id = r.account_id AND n.kind = r.kind AND n.slug = r.slug
			AND n.deleted_at <> 0 ORDER BY n.deleted_at DESC, n.id DESC LIMIT 1)
		AND (a.name > ? OR a.name = ? AND r.slug > ?) ORDER BY a.name, r.slug LIMIT ?`,
		append(args, kind, after.Account, after.Account, after.Slug, limit)...)
}

// Name is the account and the slug after which a page of a list begins. The zero value is before all names.
type Name struct{ Account, Slug string }

// trash deletes a resource, which the caller has locked, so that it can be restored until keptUntil. It revokes the
// tokens that are restricted to it, which ends their sessions.
func (tx *Tx) trash(id int64, by string) (keptUntil Time, err error) {
	err = tx.exec("UPDATE resources SET deleted_at = ?, deleted_by = ? WHERE id = ?", tx.Now(), by, id)
	if err == nil {
		_, err = tx.revokeAll("resource_id = ?", id)
	}
	return tx.Now().Add(KeptDeleted), err
}

// Purge deletes for good the resources that can no longer be restored, and returns how many. A stack or an API that a
// project uses, even a deleted one, is kept until the project is purged.
func (s *Store) Purge(ctx context.Context) (purged int, err error) {
	removed, err := s.removeDue(ctx, `r.deleted_at <> 0 AND r.deleted_at <= @now - ?
		ORDER BY CASE r.kind WHEN 'project' THEN 0 ELSE 1 END, r.id`, KeptDeleted, "purge", "")
	return len(removed), err
}

// DeleteExpired deletes for good the projects whose ExpiresAt has passed, and returns them.
func (s *Store) DeleteExpired(ctx context.Context) (deleted []Resource, err error) {
	return s.removeDue(ctx, "p.expires_at <> 0 AND p.expires_at <= @now - ? ORDER BY r.id", 0, "delete", "expired")
}

// removeDue deletes for good the resources that a condition selects, with a row of the audit log for each, and returns
// them. age is the argument of the condition. Any number of hubs may call it at once: each resource is deleted by one
// of them. A resource to which another refers is kept.
func (s *Store) removeDue(ctx context.Context, where string, age time.Duration, verb, detail string) (
	removed []Resource, err error,
) {
	due, err := sqldb.All(s.View(ctx), trashedFields, selectTrashed+"WHERE "+where, age.Microseconds())
	if err != nil {
		return nil, err
	}
	for _, r := range due {
		existed := false
		err := s.Write(ctx, func(tx *Tx) (err error) {
			// deleted_at has changed if the resource was restored meanwhile.
			existed, err = tx.change("DELETE FROM resources WHERE id = ? AND deleted_at = ?", r.ID, r.DeletedAt)
			if err != nil || !existed {
				return err
			}
			return tx.Audit(AuditRow{
				Account: r.Account, Actor: "hub", Action: r.Kind + "." + verb, Object: r.String(), Detail: detail,
			})
		})
		isUsed := errors.Is(err, ErrReference)
		if err != nil && !isUsed {
			return removed, err
		}
		if existed && !isUsed {
			removed = append(removed, r.Resource)
		}
	}
	return removed, nil
}
