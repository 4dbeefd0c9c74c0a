package store

import "example.com/projecthub/store/sqldb"

// AddRevision adds the config of a new project, which nobody wrote.
func (tx *Tx) AddEmptyConfig(project int64) error {
	empty := Revision{Digest: NoConfig, body: Compress(emptyConfig)}
	_, err := tx.add(project, Config, head{at: tx.Now()}, Revision{}, empty)
	return err
}

// Exec runs a statement.
func (tx *Tx) Exec(text string, args ...any) error {
	return tx.exec(text, args...)
}

// Named is what a write does that names blobs.
func (tx *Tx) Named(resource int64) error { return tx.namesOtherBlobs(resource) }

// RemoveBlobs is the part of a collection that follows what it has read.
func (tx *Tx) RemoveBlobs(resource, writes int64, before Time, page []string) error {
	_, err := tx.removePage(resource, writes, before, page)
	return err
}

// Numbers are those of the revisions of a kind, the newest first.
func (v View) Numbers(project int64, kind RevisionKind) ([]int64, error) {
	return sqldb.Column[int64](v,
		"SELECT n FROM revisions WHERE project_id = ? AND kind = ? ORDER BY n DESC", project, kind)
}

// Base is the number of the revision that this one is a patch of.
func (r Revision) Base() int64 { return r.base }

// Columns are those of all tables, as CopyTo knows them.
func Columns() map[string][]string {
	all := map[string][]string{}
	for _, t := range tables() {
		all[t.name] = t.columns
	}
	return all
}
