package store

import (
	"slices"

	"example.com/projecthub/store/sqldb"
)

// Condition is a condition of a write on the present revision, as in If-Match and If-None-Match. All its parts must be
// met.
type Condition struct {
	Match   []string // it has one of these digests; nil: any
	Exists  bool     // there is one
	NoMatch []string // it has none of these digests
	New     bool     // there is none
}

// Holds reports whether the condition is met by the present revision, which has this digest if it exists.
func (c Condition) Holds(digest string, exists bool) bool {
	if c.New && exists || c.Exists && !exists || slices.Contains(c.NoMatch, digest) {
		return false
	}
	return c.Match == nil || slices.Contains(c.Match, digest)
}

// ConfigWrite is a prepared write of a config: see PrepareConfig and [Tx.WriteConfig].
type ConfigWrite struct {
	// Checked is the digest of the schema that the settings pass, "" if they were not checked.
	Checked string

	before Revision // that after was compared with
	after  Revision
}

// PrepareConfig prepares a write outside of its transaction: it hashes and compresses the body of a config, which is in
// canonical form, and compares it with the config before, which may be damaged. If another write was first, WriteConfig
// compares again.
func PrepareConfig(before Revision, body []byte, by Author) (ConfigWrite, error) {
	after := Revision{Digest: Digest(body), Author: by, Content: body, body: Compress(body)}
	return ConfigWrite{after: after}.relativeTo(before)
}

func (w ConfigWrite) relativeTo(before Revision) (ConfigWrite, error) {
	content := before.Content
	if before.Damaged {
		content = emptyConfig
	}
	w.before, w.after.Parent = before, before.asParent()
	w.after.Added, w.after.Changed, w.after.Removed = 0, 0, 0
	var c changes
	err := CompareConfigs(content, w.after.Content, func(key string, was, is []byte) {
		c.add(&w.after, key, was != nil, is != nil)
	})
	if err == nil {
		w.after.names, err = c.text()
	}
	return w, err
}

// WriteConfig writes a config, and returns the revisions before and after. If before has the same content, it writes
// nothing, and returns that twice. ErrChanged, with the config before, if the condition is not met; ErrUnchecked if the
// settings have to pass a schema that they were not checked against.
func (tx *Tx) WriteConfig(project int64, w ConfigWrite, c Condition) (before, after Revision, err error) {
	last, err := tx.lockHead(project, Config)
	if err != nil {
		return before, after, err
	}
	if last.n != w.before.N { // another write was first
		if before, err = tx.Newest(project, Config); err != nil && !before.Damaged {
			return before, after, err
		}
		if w, err = w.relativeTo(before); err != nil {
			return before, after, err
		}
	}
	if !c.HoldsConfig(w.before) {
		return w.before, after, ErrChanged
	}
	if last.schema != "" && last.schema != w.Checked {
		return w.before, after, ErrUnchecked
	}
	if w.after.Digest == last.digest && !w.before.Damaged {
		return w.before, w.before, nil
	}
	after, err = tx.add(project, Config, last, w.before, w.after)
	return w.before, after, err
}

// HoldsConfig is Holds for a config. Every project has one, so Exists is always met; New is met if it is empty.
func (c Condition) HoldsConfig(r Revision) bool {
	c.Exists = false
	return c.Holds(r.Digest, r.HasConfig())
}

// SettingsSchema says which JSON Schema the settings of a project have to pass: that of its stack version.
type SettingsSchema struct {
	StackID  int64
	Digest   string // of a blob of the stack; "": the version has no schema
	Enforced bool   // settings that do not pass are refused, not only reported

	// If the project's stack version was withdrawn: this version, and the one to use instead.
	Withdrawn, UseVersion string
}

// SettingsSchema returns the schema of a project; ErrNotFound if the project does not exist.
func (v View) SettingsSchema(project int64) (s SettingsSchema, err error) {
	err = v.One(s.fields(), "SELECT "+schemaColumns+" FROM projects p"+schemaTables+" WHERE p.id = ?", project)
	return s, err
}

func (s *SettingsSchema) fields() []any {
	return sqldb.Row(&s.StackID, &s.Digest, &s.Enforced, &s.Withdrawn, &s.UseVersion)
}

// The schema of the project p, for queries of one row. Without a project, the columns are zero.
const (
	schemaColumns = `COALESCE(s.id, 0), COALESCE(sv.schema, ''),
		COALESCE(p.enforce_schema, FALSE),
		CASE WHEN p.stack_version <> 'latest' AND sv.withdrawn_at <> 0 THEN sv.version ELSE '' END,
		CASE WHEN p.stack_version <> 'latest' AND sv.withdrawn_at <> 0 THEN s.latest ELSE '' END`
	schemaTables = `
		LEFT JOIN stacks s ON s.id = p.stack_id LEFT JOIN stack_versions sv ON sv.stack_id = s.id
			AND sv.version = CASE p.stack_version WHEN 'latest' THEN s.latest ELSE p.stack_version END`
)

// emptyConfig is the config of a project to which none was written.
var emptyConfig = []byte("{}")
