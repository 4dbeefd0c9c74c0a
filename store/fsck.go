package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.com/projecthub/store/sqldb"
)

// Problem is a row that is damaged or missing.
type Problem struct {
	Cause  error  // what is wrong with what
	Remedy string // how to repair it
}

// remedies say how to repair a resource, by kind.
var remedies = map[string]string{
	KindProject: "push the base files again: tool push NAME --base-files; a config: tool push NAME --force",
	KindStack:   "publish the version again: tool publish NAME --force",
	KindAPI:     "upload the description again: tool api update",
}

// Checked counts what Check has read. Stacks counts their versions.
type Checked struct{ Blobs, Projects, Stacks, APIs int }

// older is the remedy for a revision that is not the newest of its kind.
const older = "it is an older revision: hub fsck --repair deletes it, unless a newer one needs it"

// deleteBlob removes a damaged blob, unless it was uploaded again since.
const deleteBlob = "DELETE FROM blobs WHERE resource_id = ? AND sha256 = ? AND at = ?"

// deletion is the deletion of a damaged row of a resource.
type deletion struct {
	resource int64
	text     string
	args     []any
}

// Check reads all that is stored, compares it with its digests, and calls found for what is damaged or missing.
//
// With repair it then deletes damaged blobs, and marks their projects as incomplete, so that the next upload of the
// same files sends these blobs, and missing ones, again. It also deletes damaged revisions, which would end each
// sweep, except the newest of a kind, and the base of a revision that is kept.
func (s *Store) Check(ctx context.Context, repair bool, found func(Problem)) (n Checked, err error) {
	var damaged []deletion
	err = s.Snapshot(ctx, func(v View) error {
		err := v.One(sqldb.Row(&n.Projects, &n.Stacks, &n.APIs), `SELECT (SELECT count(*) FROM projects),
			(SELECT count(*) FROM stack_versions), (SELECT count(*) FROM apis)`)
		if err != nil {
			return err
		}
		all, err := sqldb.All(v, resourceFields, "SELECT "+resourceColumns+resourceTables+"ORDER BY r.id")
		if err != nil {
			return err
		}
		for _, r := range all {
			c := checker{
				view: v, resource: r, sizes: map[string]int64{},
				checked: &n, damaged: &damaged, found: found,
			}
			if err := c.run(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !repair {
		return n, err
	}
	for _, d := range slices.Backward(damaged) { // a base after the revisions that need it
		err := s.Write(ctx, func(tx *Tx) error {
			if err := tx.sweepLater(d.resource); err != nil { // for the blobs that only a deleted revision named
				return err
			}
			// The resource comes before the blob, as in an upload, so that the two do not deadlock.
			err := tx.exec("UPDATE resources SET incomplete = TRUE WHERE id = ? AND kind = 'project'", d.resource)
			if err != nil {
				return err
			}
			return tx.exec(d.text, d.args...)
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// checker is Check for one resource.
type checker struct {
	view     View
	resource Resource
	newest   []int64          // numbers of the newest revisions of the resource, one of each kind
	sizes    map[string]int64 // of the stored blobs, by digest; reportedBlob for one that was reported

	checked *Checked
	damaged *[]deletion
	found   func(Problem)
}

// reportedBlob is the size of a blob that was reported, so that it is reported once.
const reportedBlob = -1

func (c *checker) run() (err error) {
	c.newest, err = sqldb.Column[int64](c.view,
		"SELECT MAX(n) FROM revisions WHERE project_id = ? GROUP BY kind", c.resource.ID)
	if err != nil {
		return err
	}
	if err := c.blobs(); err != nil {
		return err
	}
	if err := c.configs(); err != nil {
		return err
	}
	return c.view.eachList(c.resource.ID, c.list)
}

// report reports what is wrong with a resource, or with a revision of it; revision 0: with no revision.
func (c *checker) report(revision int64, what string, err error) {
	remedy := remedies[c.resource.Kind]
	if revision != 0 && !slices.Contains(c.newest, revision) {
		remedy = older
		c.remove(`DELETE FROM revisions WHERE project_id = ? AND n = ? AND NOT EXISTS (
			SELECT 1 FROM revisions d WHERE d.project_id = revisions.project_id AND d.base = revisions.n)`,
			c.resource.ID, revision)
	}
	c.found(Problem{
		Cause:  fmt.Errorf("%s %s: %s%w", c.resource.Kind, c.resource, what, err),
		Remedy: remedy,
	})
}

// remove lets a repair run the SQL that deletes a damaged row of the resource.
func (c *checker) remove(text string, args ...any) {
	*c.damaged = append(*c.damaged, deletion{resource: c.resource.ID, text: text, args: args})
}

func (c *checker) blobs() error {
	type storedBlob struct {
		Blob
		at Time
	}
	var buf []byte
	return sqldb.Each(c.view, func(b *storedBlob) []any { return sqldb.Row(&b.SHA256, &b.Size, &b.at, &b.Body) },
		func(b storedBlob) (err error) {
			c.checked.Blobs++
			c.sizes[b.SHA256] = b.Size
			if buf, err = b.Open(buf); err != nil {
				c.sizes[b.SHA256] = reportedBlob
				c.report(0, "", err)
				c.remove(deleteBlob, c.resource.ID, b.SHA256, b.at)
			}
			return c.view.Context().Err()
		}, "SELECT sha256, size, at, body FROM blobs WHERE resource_id = ? ORDER BY sha256", c.resource.ID)
}

func (c *checker) configs() error {
	numbers, err := sqldb.Column[int64](c.view,
		"SELECT n FROM revisions WHERE project_id = ? AND kind = 'config' ORDER BY n", c.resource.ID)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		_, err := c.view.Numbered(c.resource.ID, Config, n)
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
		if err != nil {
			c.report(n, "config: ", err)
		}
	}
	return nil
}

// list checks a list of files: err if it cannot be read. Of each file the blob must be stored, and have its size.
func (c *checker) list(l list, err error) error {
	switch {
	case err != nil && !errors.Is(err, ErrDamaged):
		return err
	case err != nil && l.version != "":
		c.report(0, l.version+": list of files: ", err)
	case err != nil:
		c.report(l.n, "list of files: ", err)
	}
	for _, e := range l.files {
		size, isStored := c.sizes[e.SHA256]
		hasSize := size == e.Size || e.Path == "" // the blob of an API has no path, and no size in the list
		if size == reportedBlob || isStored && hasSize || e.SHA256 == "" {
			continue
		}
		c.sizes[e.SHA256] = reportedBlob
		var cause error
		switch {
		case isStored:
			cause = fmt.Errorf("%w: %q %w", ErrDamaged, e.Path, ErrSize)
		case e.Path == "":
			cause = fmt.Errorf("%w: %s", ErrMissing, e.SHA256)
		default:
			cause = fmt.Errorf("%w: %s of %q", ErrMissing, e.SHA256, e.Path)
		}
		if !isStored { // it deletes no blob, but marks the project as incomplete
			c.remove(deleteBlob, c.resource.ID, e.SHA256, Time(0))
		}
		c.report(0, "", cause)
	}
	return nil
}
