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

// Grace is how long a blob is kept although nothing names it. No upload may take longer.
const Grace = 24 * time.Hour

// A sweep deletes the blobs of a resource that nothing names, once they are older than the grace period. A resource
// names blobs in the lists of files of its revisions or versions, or as an API in the digests of its row.

// setSweep makes a sweep due after a time, unless one is due already.
const setSweep = "sweep_at = CASE sweep_at WHEN 0 THEN @now + ? ELSE sweep_at END"

// sweepLater makes a sweep of a resource due after the grace period, when it may delete what is stored now. It locks
// the resource, so that a sweep that ends at the same time waits, and sees this.
func (tx *Tx) sweepLater(resource int64) error {
	return tx.send("UPDATE resources SET "+setSweep+" WHERE id = ?", Grace.Microseconds(), resource)
}

// namesOtherBlobs is sweepLater for a transaction after which the resource names other blobs than before. A sweep that
// has read the former names ends: see Collect. The caller has locked the resource.
func (tx *Tx) namesOtherBlobs(resource int64) error {
	return tx.send("UPDATE resources SET writes = writes + 1, "+setSweep+" WHERE id = ?", Grace.Microseconds(), resource)
}

// Sweep collects each resource whose sweep is due, and returns how many blobs it has deleted. If one fails, it goes on
// with the others, and returns all errors; a damaged resource is due again after a day.
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

// Collect deletes the blobs of a resource that it does not name, except those that were stored within the grace period,
// and returns how many.
//
// No write loses a blob to it. The blobs that a push uploads are younger than the grace period. The
// transaction that adds the push's revision checks again that the others are stored. That transaction and each deletion
// here lock the resource; and a deletion ends the collection if resources.writes has changed since the lists were read.
// Any other doubt ends it with an error.
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
	if err == nil {
		removed, err = s.removeBlobs(ctx, resource, writes, before, unnamed)
	}
	var retry time.Duration // until the next sweep; 0: this one has deleted all that it should
	switch {
	case errors.Is(err, ErrDamaged):
		retry = Grace
	case errors.Is(err, ErrChanged):
		retry, err = time.Minute, nil // the next sweep reads the lists again
	case err != nil:
		retry = time.Minute
	}
	return removed, errors.Join(err, s.Write(ctx, func(tx *Tx) error { return tx.swept(resource, before, retry) }))
}

// swept sets when the next sweep is due: after the time retry; or, if that is 0, after the grace period if there are
// blobs since before, else never.
func (tx *Tx) swept(resource int64, before Time, retry time.Duration) error {
	if retry > 0 {
		return tx.exec("UPDATE resources SET sweep_at = ? WHERE id = ?", tx.Now().Add(retry), resource)
	}
	// This locks the resource, and so waits for uploads: the next statement sees their blobs.
	if err := tx.exec("UPDATE resources SET sweep_at = 0 WHERE id = ?", resource); err != nil {
		return err
	}
	return tx.exec(`UPDATE resources SET sweep_at = ? WHERE id = ?
		AND EXISTS (SELECT 1 FROM blobs WHERE resource_id = resources.id AND at >= ?)`,
		tx.Now().Add(Grace), resource, before)
}

// removeBlobs deletes those of the blobs with these digests that were not uploaded again since before, and returns how
// many. It stops when a transaction fails: with ErrChanged if resources.writes is no longer the number writes.
func (s *Store) removeBlobs(ctx context.Context, resource, writes int64, before Time, digests []string) (
	removed int, err error,
) {
	for page := range slices.Chunk(digests, blobPage) {
		n := 0
		err := s.Write(ctx, func(tx *Tx) (err error) {
			n, err = tx.removePage(resource, writes, before, page)
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += n
	}
	return removed, nil
}

// removePage is removeBlobs for at most blobPage digests.
func (tx *Tx) removePage(resource, writes int64, before Time, page []string) (removed int, err error) {
	var now int64
	if err := tx.One(sqldb.Row(&now), "SELECT writes FROM resources WHERE id = ? @lock", resource); err != nil {
		return 0, err
	}
	if now != writes {
		return 0, ErrChanged
	}
	where, args := ofPage(resource, page)
	return tx.count("DELETE FROM blobs "+where+" AND at < ?", append(args, before)...)
}

// unnamed returns the digests of the blobs of a resource that were stored before a time, and that it does not name.
func (v View) unnamed(resource int64, before Time) (digests []string, err error) {
	named := map[string]bool{}
	err = v.eachList(resource, func(l list, err error) error {
		for _, e := range l.files {
			named[e.SHA256] = true
		}
		if errors.Is(err, ErrNotFound) { // a write has dropped it meanwhile; one without its base is damaged
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	stored, err := sqldb.Column[string](v, "SELECT sha256 FROM blobs WHERE resource_id = ? AND at < ?", resource, before)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(stored, func(digest string) bool { return named[digest] }), nil
}

// list is a list of files that a resource names: of a revision, or of a stack version. Each blob of an API is a list
// with one file without a path.
type list struct {
	n       int64  // number of the revision; 0: it is no revision's
	version string // of the stack; "": it is no version's
	digest  string // of the schema, one of the version's files, or of the API's blob; "": none
	files   tree.Tree
}

// eachList calls f for each list of a resource, until f fails; with an error if the list cannot be read.
func (v View) eachList(resource int64, f func(l list, err error) error) error {
	lists, err := sqldb.All(v, func(l *list) []any { return sqldb.Row(&l.n, &l.version, &l.digest) },
		`SELECT n, '', '' FROM revisions WHERE project_id = ? AND kind = 'files'
		UNION ALL SELECT 0, version, schema FROM stack_versions WHERE stack_id = ?
		UNION ALL SELECT 0, '', document FROM apis WHERE id = ?
		UNION ALL SELECT 0, '', json FROM apis WHERE id = ?
		UNION ALL SELECT 0, '', targets FROM apis WHERE id = ? ORDER BY 1, 2`,
		resource, resource, resource, resource, resource)
	if err != nil {
		return err
	}
	for _, l := range lists {
		var unread error
		isAPIBlob := l.n == 0 && l.version == ""
		if isAPIBlob {
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
	return nil
}

// files reads a list of files: the revision n of a project, or a version of a stack.
func (v View) files(resource, n int64, version string) (tree.Tree, error) {
	var r Revision
	var err error
	if version == "" {
		r, err = v.Numbered(resource, Files, n)
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
