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
		for _, r := range all {
			if err := v.check(r, &n, &damaged, found); err != nil {
				return err
			}
		}
		return err
	})
	if err != nil || !repair {
		return n, err
	}
	for _, d := range slices.Backward(damaged) { // a base after the revisions that need it
		err := s.Write(ctx, func(tx *Tx) error {
			if err := tx.sweepLater(d.resource, 0); err != nil { // for the blobs that only a deleted revision named
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

// check is Check for one resource.
func (v View) check(r Resource, n *Checked, damaged *[]deletion, found func(Problem)) error {
	newest, err := sqldb.Column[int64](v, "SELECT MAX(n) FROM revisions WHERE project_id = ? GROUP BY kind", r.ID)
	if err != nil {
		return err
	}
	report := func(revision int64, what string, err error) { // 0: not of a revision
		remedy := remedies[r.Kind]
		if revision != 0 && !slices.Contains(newest, revision) {
			remedy = older
			*damaged = append(*damaged, deletion{r.ID, `DELETE FROM revisions WHERE project_id = ? AND n = ? AND NOT EXISTS (
				SELECT 1 FROM revisions d WHERE d.project_id = revisions.project_id AND d.base = revisions.n)`,
				[]any{r.ID, revision}})
		}
		found(Problem{fmt.Errorf("%s %s: %s%w", r.Kind, r, what, err), remedy})
	}
	type blob struct {
		Blob
		at Time
	}
	const reported = -1
	known := map[string]int64{} // sizes of the stored blobs, or reported
	var buf []byte
	err = sqldb.Each(v, func(b *blob) []any { return sqldb.Row(&b.SHA256, &b.Size, &b.at, &b.Body) },
		func(b blob) (err error) {
			n.Blobs++
			known[b.SHA256] = b.Size
			if buf, err = b.Open(buf); err != nil {
				known[b.SHA256] = reported
				report(0, "", err)
				*damaged = append(*damaged, deletion{r.ID, deleteBlob, []any{r.ID, b.SHA256, b.at}})
			}
			return v.Context().Err()
		}, "SELECT sha256, size, at, body FROM blobs WHERE resource_id = ? ORDER BY sha256", r.ID)
	if err != nil {
		return err
	}
	configs, err := sqldb.Column[int64](v,
		"SELECT n FROM revisions WHERE project_id = ? AND kind = 'config' ORDER BY n", r.ID)
	if err != nil {
		return err
	}
	for _, n := range configs {
		if _, err := v.Numbered(r.ID, n); errors.Is(err, ErrDamaged) {
			report(n, "config: ", err)
		} else if err != nil {
			return err
		}
	}
	return v.eachList(r.ID, func(l list, err error) error {
		switch {
		case err != nil && !errors.Is(err, ErrDamaged):
			return err
		case err != nil && l.version != "":
			report(0, l.version+": list of files: ", err)
		case err != nil:
			report(l.n, "list of files: ", err)
		}
		for _, e := range l.files {
			size, stored := known[e.SHA256]
			if size == reported || stored && (size == e.Size || e.Path == "") || e.SHA256 == "" {
				continue
			}
			known[e.SHA256] = reported
			if !stored {
				*damaged = append(*damaged, deletion{r.ID, deleteBlob, []any{r.ID, e.SHA256, Time(0)}}) // deletes none
			}
			err := fmt.Errorf("%w: %s", ErrMissing, e.SHA256)
			if e.Path != "" {
				err = fmt.Errorf("%w of %q", err, e.Path)
			}
			if stored {
				err = fmt.Errorf("%w: %q %w", ErrDamaged, e.Path, ErrSize)
			}
			report(0, "", err)
		}
		return nil
	})
}
