package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store/sqldb"
)

// Grace is how long a blob is kept that nothing names. No upload may take longer.
const Grace = 24 * time.Hour

// A resource names blobs by lists of files, in its revisions or its versions, or by the digests in
// its row of apis. All else may be swept once it is older than the grace period.

// named says to a sweep that reads meanwhile that blobs of a resource are named now that were not
// before. The caller has locked the resource.
func (tx *Tx) named(resource int64) error { return tx.sweepLater(resource, 1) }

// sweepLater has a sweep be due once what is stored now may be removed. It locks the resource, so that
// a sweep that ends meanwhile waits, and finds it. named is 1 if blobs are named now, else 0.
func (tx *Tx) sweepLater(resource, named int64) error {
	return tx.exec(`UPDATE resources SET writes = writes + ?,
		sweep_at = CASE sweep_at WHEN 0 THEN ? ELSE sweep_at END WHERE id = ?`, named, tx.Now().Add(Grace), resource)
}

// Sweep collects each resource whose sweep is due, and returns how many blobs it removed. One that
// cannot be read, since it is damaged, is left as it is for a day, and no reason not to go on.
func (s *Store) Sweep(ctx context.Context) (removed int, err error) {
	return s.sweep(ctx, "SELECT id FROM resources WHERE sweep_at <> 0 AND sweep_at <= @now ORDER BY sweep_at")
}

// SweepAll is Sweep for all resources.
func (s *Store) SweepAll(ctx context.Context) (removed int, err error) {
	return s.sweep(ctx, "SELECT id FROM resources ORDER BY id")
}

func (s *Store) sweep(ctx context.Context, query string) (removed int, err error) {
	due, err := sqldb.Column[int64](s.View(ctx), query)
	if err != nil {
		return 0, err
	}
	var failed error
	for _, id := range due {
		n, err := s.Collect(ctx, id, Grace)
		removed += n
		if errors.Is(err, ErrUnavailable) || ctx.Err() != nil {
			return removed, errors.Join(failed, err)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("sweep of resource %d: %w", id, err))
		}
	}
	return removed, failed
}

// Collect removes the blobs of a resource that it does not name, except those that were stored
// within the grace period, and returns how many.
//
// No write loses a blob to it. What a push uploads is younger than the grace period. What it
// finds to be stored, it checks again in the transaction that adds its revision; that and each
// removal lock the resource, and a removal ends the collection if the resource's counter of writes
// is not what it was before the lists were read. Any other doubt ends it with an error.
func (s *Store) Collect(ctx context.Context, resource int64, grace time.Duration) (removed int, err error) {
	v := s.View(ctx)
	var writes int64
	var before Time
	err = v.One(sqldb.Row(&writes, &before), "SELECT writes, @now - ? FROM resources WHERE id = ?",
		grace.Microseconds(), resource)
	if errors.Is(err, ErrNotFound) { // it was purged meanwhile
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	unnamed, err := v.unnamed(resource, before)
	for page := range slices.Chunk(unnamed, blobPage) {
		n := 0
		err = s.Write(ctx, func(tx *Tx) (err error) {
			n, err = tx.removeBlobs(resource, writes, before, page)
			return err
		})
		if removed += n; err != nil {
			break
		}
	}
	var again time.Duration // until a sweep removes what this one did not
	switch {
	case errors.Is(err, ErrDamaged):
		again = Grace
	case errors.Is(err, ErrChanged):
		again, err = time.Minute, nil // the next sweep reads again
	case err != nil:
		again = time.Minute
	}
	return removed, errors.Join(err, s.Write(ctx, func(tx *Tx) error { return tx.swept(resource, before, again) }))
}

// swept says when the next sweep is due: when what is young now may be removed, or after a time, if this
// one has not ended.
func (tx *Tx) swept(resource int64, before Time, again time.Duration) error {
	if again > 0 {
		return tx.exec("UPDATE resources SET sweep_at = ? WHERE id = ?", tx.Now().Add(again), resource)
	}
	// This waits for uploads: the next statement then sees their blobs.
	if err := tx.exec("UPDATE resources SET sweep_at = 0 WHERE id = ?", resource); err != nil {
		return err
	}
	return tx.exec(`UPDATE resources SET sweep_at = ? WHERE id = ?
		AND EXISTS (SELECT 1 FROM blobs WHERE resource_id = resources.id AND at >= ?)`,
		tx.Now().Add(Grace), resource, before)
}

// removeBlobs removes a page of blobs, unless something was named since, or they were uploaded again.
func (tx *Tx) removeBlobs(resource, writes int64, before Time, page []string) (removed int, err error) {
	var now int64
	err = tx.One(sqldb.Row(&now), "SELECT writes FROM resources WHERE id = ? @lock", resource)
	if err == nil && now != writes {
		err = ErrChanged
	}
	if err != nil {
		return 0, err
	}
	where, args := ofPage(resource, page)
	return tx.count("DELETE FROM blobs "+where+" AND at < ?", append(args, before)...)
}

// unnamed returns the digests of blobs that a resource does not name, and that were stored before a
// time.
func (v View) unnamed(resource int64, before Time) (digests []string, err error) {
	named := map[string]bool{}
	err = v.eachList(resource, func(l list, err error) error {
		for _, e := range l.files {
			named[e.SHA256] = true
		}
		if errors.Is(err, ErrNotFound) { // a write dropped this one; one without its base is damaged
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	stored, err := sqldb.Column[string](v, "SELECT sha256 FROM blobs WHERE resource_id = ? AND at < ?", resource, before)
	return slices.DeleteFunc(stored, func(digest string) bool { return named[digest] }), err
}

// list is a list of files by which a resource names blobs: a revision of a project, or a version of a
// stack. What an API names are files without a path.
type list struct {
	n       int64  // of the revision
	version string // of the stack
	digest  string // of the schema, one of the version's files, or of what an API names; "": none
	files   tree.Tree
}

// eachList calls f for each list of a resource, with an error if it cannot be read, until f fails.
func (v View) eachList(resource int64, f func(l list, err error) error) error {
	lists, err := sqldb.All(v, func(l *list) []any { return sqldb.Row(&l.n, &l.version, &l.digest) },
		`SELECT n, '', '' FROM revisions WHERE project_id = ? AND kind = 'files'
		UNION ALL SELECT 0, version, schema FROM stack_versions WHERE stack_id = ?
		UNION ALL SELECT 0, '', document FROM apis WHERE id = ?
		UNION ALL SELECT 0, '', json FROM apis WHERE id = ?
		UNION ALL SELECT 0, '', targets FROM apis WHERE id = ? ORDER BY 1, 2`,
		resource, resource, resource, resource, resource)
	for _, l := range lists {
		var unread error
		if l.n == 0 && l.version == "" {
			l.files = tree.Tree{{SHA256: l.digest}}
		} else {
			l.files, unread = v.files(resource, l.n, l.version)
		}
		isDigest := func(e tree.Entry) bool { return e.SHA256 == l.digest }
		if unread == nil && l.digest != "" && !slices.ContainsFunc(l.files, isDigest) {
			unread = fmt.Errorf("%w: it does not have the schema of settings %s", ErrDamaged, l.digest)
		}
		if err := f(l, unread); err != nil {
			return err
		}
	}
	return err
}

// files reads a list of files: the revision n of a project, or a version of a stack.
func (v View) files(resource, n int64, version string) (tree.Tree, error) {
	var r Revision
	var err error
	if version == "" {
		r, err = v.Numbered(resource, n)
	} else {
		err = v.One(sqldb.Row(&r.Digest, &r.body),
			"SELECT tree, body FROM stack_versions WHERE stack_id = ? AND version = ?", resource, version)
		if err == nil {
			err = r.Decode()
		}
	}
	if err != nil {
		return nil, err
	}
	return tree.Read(r.Content)
}
