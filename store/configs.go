package store

import (
	"slices"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/store/sqldb"
)

// Condition is what must hold for a write: If-Match and If-None-Match.
type Condition struct {
	Match   []string // the project holds one of these digests; nil: any
	Exists  bool     // the project holds something
	NoMatch []string // the project holds none of these
	New     bool     // the project holds nothing
}

// Holds reports whether the condition is met by what the project holds, if it holds something.
func (c Condition) Holds(digest string, something bool) bool {
	if c.New && something || c.Exists && !something || slices.Contains(c.NoMatch, digest) {
		return false
	}
	return c.Match == nil || slices.Contains(c.Match, digest)
}

// ConfigWrite replaces a config. Its slow part is done: see PrepareConfig.
type ConfigWrite struct {
	// Checked is the digest of the schema that the settings pass, "" when they were not checked.
	Checked string

	before Revision // that the counts are relative to
	after  Revision
}

// PrepareConfig hashes, compresses and compares the body of a config, in canonical form, with the
// config before, which may be damaged. If that has changed when the config is written, it is
// compared again.
func PrepareConfig(before Revision, body []byte, by Author) (ConfigWrite, error) {
	after := Revision{Digest: Digest(body), Author: by, Content: body, body: Compress(body)}
	return ConfigWrite{after: after}.relativeTo(before)
}

func (w ConfigWrite) relativeTo(before Revision) (ConfigWrite, error) {
	content := before.Content
	if before.Damaged {
		content = emptyConfig
	}
	counts, err := flat.Count(content, w.after.Content)
	w.before, w.after.Parent = before, before.asParent()
	w.after.Added, w.after.Changed, w.after.Removed = counts.Added, counts.Changed, counts.Removed
	return w, err
}

// WriteConfig writes a config, and returns the one before and the one after. The same config
// again changes nothing. ErrChanged, with the config before, when the condition does not hold;
// ErrUnchecked when the settings have to pass a schema that they were not checked against.
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

// HoldsConfig reports whether the condition is met by a config: every project has one, and it is
// something once it has a member.
func (c Condition) HoldsConfig(r Revision) bool {
	c.Exists = false
	return c.Holds(r.Digest, r.HasConfig())
}

// SettingsSchema is the JSON Schema of the settings of a project.
type SettingsSchema struct {
	StackID  int64
	Version  string // of the stack, resolved
	Digest   string // of a blob of the stack; "": the version has no schema
	Enforced bool   // settings that it does not allow are refused

	// If the project's stack version was withdrawn: that one, and the one to use instead.
	Withdrawn, UseVersion string
}

// SettingsSchema returns that of a project.
func (v View) SettingsSchema(project int64) (s SettingsSchema, err error) {
	err = v.One(s.fields(), "SELECT "+schemaColumns+" FROM projects p"+schemaTables+" WHERE p.id = ?", project)
	return s, err
}

func (s *SettingsSchema) fields() []any {
	return sqldb.Row(&s.StackID, &s.Version, &s.Digest, &s.Enforced, &s.Withdrawn, &s.UseVersion)
}

// The schema of the project p, for queries of one row. Without a project, the columns are zero.
const (
	schemaColumns = `COALESCE(s.id, 0), COALESCE(sv.version, ''), COALESCE(sv.schema, ''),
		COALESCE(p.enforce_schema, FALSE),
		CASE WHEN p.stack_version <> 'latest' AND sv.withdrawn_at <> 0 THEN sv.version ELSE '' END,
		CASE WHEN p.stack_version <> 'latest' AND sv.withdrawn_at <> 0 THEN s.latest ELSE '' END`
	schemaTables = `
		LEFT JOIN stacks s ON s.id = p.stack_id LEFT JOIN stack_versions sv ON sv.stack_id = s.id
			AND sv.version = CASE p.stack_version WHEN 'latest' THEN s.latest ELSE p.stack_version END`
)

// emptyConfig is the config of a project to which none was written.
var emptyConfig = []byte("{}")
