package store

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store/sqldb"
)

// Project is a project with what lists and pages show of it.
type Project struct {
	Resource
	Bound
	StackLatest string   // the latest version of its stack
	Withdrawn   bool     // its stack version was withdrawn
	ExpiresAt   Time     // when the hub deletes it; 0: never
	Hidden      bool     // its account is disabled
	Config      Revision // without its content; At 0: it was never written
	Files       Revision // without its content; N 0: there are none
}

// Bound is what a project is bound to: a stack, which it keeps, and what can be edited.
type Bound struct {
	Stack         Resource
	StackVersion  string // latest, or an exact version
	API           Resource
	PublicPreview bool // its stack version and API description are published with it
	EnforceSchema bool // its settings have to pass the stack's schema
}

// IsPublic reports whether everyone may read the project.
func (p *Project) IsPublic() bool { return p.Visibility == "public" && !p.Hidden }

// ResolvedVersion returns the version of the stack that the project uses at present.
func (p *Project) ResolvedVersion() string {
	if p.StackVersion == latest {
		return p.StackLatest
	}
	return p.StackVersion
}

// latest is the stack version of a project that follows the highest release.
const latest = "latest"

const selectProjects = `SELECT r.id, r.account_id, a.name, r.kind, r.slug, p.visibility, r.created_at, r.created_by,
	s.id, s.account_id, sa.name, s.kind, s.slug, p.stack_version, COALESCE(st.latest, ''),
	COALESCE(sv.withdrawn_at, 0) <> 0, i.id, i.account_id, ia.name, i.kind, i.slug,
	p.public_preview, p.enforce_schema, p.expires_at, a.disabled_at <> 0,
	c.n, c.digest, CASE WHEN c.via = '' THEN 0 ELSE c.at END, c.by_user, c.via, c.message,
	COALESCE(f.n, 0), COALESCE(f.digest, ''), COALESCE(f.by_user, ''), COALESCE(f.files, 0), COALESCE(f.bytes, 0)
	FROM projects p JOIN resources r ON r.id = p.id JOIN accounts a ON a.id = r.account_id
	JOIN resources s ON s.id = p.stack_id JOIN accounts sa ON sa.id = s.account_id
	LEFT JOIN stacks st ON st.id = p.stack_id
	LEFT JOIN stack_versions sv ON sv.stack_id = p.stack_id AND sv.version = p.stack_version
	JOIN resources i ON i.id = p.api_id JOIN accounts ia ON ia.id = i.account_id` + joinNewest + `
	WHERE r.deleted_at = 0 AND `

// joinNewest joins the newest revisions of a project: c, its config, and f, its files, if it has any.
const joinNewest = `
	JOIN revisions c ON c.project_id = r.id AND c.kind = 'config'
		AND c.n = (SELECT n FROM revisions WHERE project_id = r.id AND kind = 'config' ORDER BY n DESC LIMIT 1)
	LEFT JOIN revisions f ON f.project_id = r.id AND f.kind = 'files'
		AND f.n = (SELECT n FROM revisions WHERE project_id = r.id AND kind = 'files' ORDER BY n DESC LIMIT 1)`

func projectFields(p *Project) []any {
	return append(resourceFields(&p.Resource),
		&p.Stack.ID, &p.Stack.AccountID, &p.Stack.Account, &p.Stack.Kind, &p.Stack.Slug, &p.StackVersion, &p.StackLatest,
		&p.Withdrawn, &p.API.ID, &p.API.AccountID, &p.API.Account, &p.API.Kind, &p.API.Slug, &p.PublicPreview,
		&p.EnforceSchema, &p.ExpiresAt, &p.Hidden, &p.Config.N, &p.Config.Digest, &p.Config.At, &p.Config.User, &p.Config.Via,
		&p.Config.Message, &p.Files.N, &p.Files.Digest, &p.Files.User, &p.Files.Files, &p.Files.Bytes)
}

// Project returns a project, or ErrNotFound.
func (v View) Project(id int64) (p Project, err error) {
	err = v.One(projectFields(&p), selectProjects+"p.id = ?", id)
	return p, err
}

// Errors of AddProject and EditProject.
var (
	ErrNotPublished = errors.New("the stack version is not published")
	ErrNoAPI        = errors.New("there is no such API")
)

// AddProject adds a project with an empty config, which has no author. It never changes a project: ErrExists if the
// name is taken. ErrNotPublished or ErrNoAPI if the stack version or the API does not exist, also for an id of 0.
// p.ID is 0, or that of a [ProjectCopy] that becomes the project; ErrNotFound if that was purged.
func (tx *Tx) AddProject(p Project) (id int64, err error) {
	if p.ID == 0 {
		id, err = tx.AddResource(p.AccountID, KindProject, p.Slug, p.CreatedBy)
	} else {
		err = tx.One(sqldb.Row(&id), `UPDATE resources SET kind = 'project', created_at = ?, deleted_at = 0, deleted_by = ''
			WHERE id = ? AND kind = 'copy' RETURNING id`, tx.Now(), p.ID)
		if err == nil {
			err = tx.takeName(p.AccountID, KindProject, p.Slug)
		}
	}
	if err != nil {
		return 0, err
	}
	if err := tx.checkBound(p.Bound); err != nil {
		return 0, err
	}
	err = tx.exec(`INSERT INTO projects (id, stack_id, stack_version, api_id, visibility, enforce_schema, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, id, p.Stack.ID, p.StackVersion, p.API.ID, p.Visibility, p.EnforceSchema, p.ExpiresAt)
	if err != nil {
		return 0, err
	}
	_, err = tx.add(id, Config, head{at: tx.Now()}, Revision{}, Revision{Digest: NoConfig, body: Compress(emptyConfig)})
	return id, err
}

// checkBound returns ErrNotPublished or ErrNoAPI if the stack version or the API of a project does not exist. It locks
// the API, so that a deletion waits, and then finds the project.
func (tx *Tx) checkBound(b Bound) error {
	if _, err := tx.ResolveVersion(b); err != nil {
		return err
	}
	err := tx.One(sqldb.Row(new(int64)), "SELECT id FROM resources WHERE id = ? AND kind = 'api' AND deleted_at = 0 @lock",
		b.API.ID)
	if errors.Is(err, ErrNotFound) {
		return ErrNoAPI
	}
	return err
}

// ResolveVersion returns the version of the stack that a project uses at present, or ErrNotPublished.
func (v View) ResolveVersion(b Bound) (version string, err error) {
	err = v.One(sqldb.Row(&version), `SELECT COALESCE(v.version, s.latest)
		FROM stacks s LEFT JOIN stack_versions v ON v.stack_id = s.id AND v.version = ?
		WHERE s.id = ? AND s.latest <> '' AND (v.version IS NOT NULL OR CAST(? AS TEXT) = 'latest')`,
		b.StackVersion, b.Stack.ID, b.StackVersion)
	if errors.Is(err, ErrNotFound) {
		err = ErrNotPublished
	}
	return version, err
}

// LockProject returns a project, which other transactions cannot edit until the end of this one.
func (tx *Tx) LockProject(id int64) (Project, error) {
	if err := tx.lock(id); err != nil {
		return Project{}, err
	}
	return tx.Project(id)
}

// EditProject replaces the visibility, the stack version, the API and the options of a project that
// is locked. It fails as AddProject does.
func (tx *Tx) EditProject(p Project) error {
	if err := tx.checkBound(p.Bound); err != nil {
		return err
	}
	return tx.exec(`UPDATE projects SET visibility = ?, stack_version = ?, api_id = ?, public_preview = ?,
		enforce_schema = ? WHERE id = ?`,
		p.Visibility, p.StackVersion, p.API.ID, p.PublicPreview, p.EnforceSchema, p.ID)
}

// RenameProject changes the slug of a project that is locked. [View.Access] finds it by the former one, too, until
// another project has that name. ErrExists if the new name is taken.
func (tx *Tx) RenameProject(r Resource, slug string) error {
	if err := tx.takeName(r.AccountID, KindProject, slug); err != nil {
		return err
	}
	err := tx.exec("INSERT INTO renames (account_id, kind, slug, resource_id, at) VALUES (?, 'project', ?, ?, ?)",
		r.AccountID, r.Slug, r.ID, tx.Now())
	if err != nil {
		return err
	}
	return tx.exec("UPDATE resources SET slug = ? WHERE id = ?", slug, r.ID)
}

// DeleteProject deletes a project, and returns until when it can be restored. One that expires, such as a preview of a
// pull request, is deleted for good: keptUntil is 0 then. ErrNotFound if the project does not exist.
func (tx *Tx) DeleteProject(id int64, by string) (keptUntil Time, err error) {
	p, err := tx.LockProject(id)
	if err != nil {
		return 0, err
	}
	if p.ExpiresAt == 0 {
		return tx.trash(id, by)
	}
	return 0, tx.exec("DELETE FROM resources WHERE id = ?", id)
}

// RestoreProject restores a project under the name slug. The tokens that were restricted to it stay revoked. If its
// API was deleted, it is bound to the API that has this name now. Nobody agreed to publish that one, so a public
// preview ends, which previewEnded reports. ErrNotFound if the project is not deleted any more, ErrExists if the
// name is taken, ErrNoAPI if no API has the name of its API.
func (tx *Tx) RestoreProject(t Trashed, slug string) (p Project, previewEnded bool, err error) {
	err = tx.One(sqldb.Row(&p.ID), `UPDATE resources SET deleted_at = 0, deleted_by = '', slug = ?
		WHERE id = ? AND deleted_at <> 0 RETURNING id`, slug, t.ID)
	if err != nil {
		return p, false, err
	}
	if err := tx.takeName(t.AccountID, KindProject, slug); err != nil {
		return p, false, err
	}
	if p, err = tx.Project(t.ID); err != nil {
		return p, false, err
	}
	named, err := tx.ResourceByName(p.API.Account, KindAPI, p.API.Slug)
	if errors.Is(err, ErrNotFound) {
		return p, false, ErrNoAPI
	}
	isSame := named.ID == p.API.ID // it was not deleted
	if err != nil || isSame {
		return p, false, err
	}
	previewEnded, p.API, p.PublicPreview = p.PublicPreview, named, false
	return p, previewEnded, tx.exec("UPDATE projects SET api_id = ?, public_preview = ? WHERE id = ?",
		p.API.ID, p.PublicPreview, p.ID)
}

// ProjectCopy is a copy of a project that is being made.
type ProjectCopy struct {
	ID     int64    // of the project that it becomes; 0 if the source has no files, and so no blobs
	Config Revision // of the source, at the same moment as its files
	files  Revision
	source int64 // its ID
}

// BeginCopy reads the config and the files of the project source, for a copy in the account of p, with its slug.
// CopyBlobs, AddProject and FinishCopy make it a project; if they do not within a day, Purge deletes it. ErrNotFound if
// source does not exist.
func (s *Store) BeginCopy(ctx context.Context, source int64, p Resource) (c ProjectCopy, err error) {
	err = s.Write(ctx, func(tx *Tx) error {
		// Reset, because this may run again.
		c = ProjectCopy{source: source}
		if err := tx.lock(source); err != nil { // so that config and files are of one moment
			return err
		}
		if c.Config, err = tx.Newest(source, Config); err != nil {
			return err
		}
		if c.files, err = tx.Newest(source, Files); err != nil {
			return err
		}
		purged := tx.Now().Add(Grace)
		return tx.One(sqldb.Row(&c.ID), `INSERT INTO resources
			(account_id, kind, slug, created_at, created_by, deleted_at, deleted_by) VALUES (?, 'copy', ?, ?, ?, ?, 'hub')
			RETURNING id`, p.AccountID, p.Slug, tx.Now(), p.CreatedBy, purged.Add(-KeptDeleted))
	})
	hasNoFiles := errors.Is(err, ErrNotFound) && c.Config.N != 0
	if hasNoFiles {
		err = nil
	}
	return c, err
}

// copiedBytes is how many bytes of files CopyBlobs copies in a transaction, so that other writes do not wait for all.
const copiedBytes = 4 << 20

// CopyBlobs copies the blobs that the files of the source name.
func (s *Store) CopyBlobs(ctx context.Context, c ProjectCopy) error {
	list, err := tree.Read(c.files.Content)
	if err != nil {
		return err
	}
	for part := range without(list, nil).Parts(blobPage, copiedBytes) {
		where, args := ofPage(c.source, part.Digests())
		err := s.Write(ctx, func(tx *Tx) error {
			return tx.exec(`INSERT INTO blobs (resource_id, sha256, size, at, body)
				SELECT CAST(? AS BIGINT), sha256, size, @now, body FROM blobs `+where, append([]any{c.ID}, args...)...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// FinishCopy writes what a copy has of its source to the project id, which was just added, as revisions of by.
// ErrMissing or ErrSize if the source lacked a blob.
func (tx *Tx) FinishCopy(id int64, c ProjectCopy, by Author) error {
	if c.Config.Written() {
		empty := Revision{N: 1, Digest: NoConfig, Content: emptyConfig} // the first revision of every project
		write, err := PrepareConfig(empty, c.Config.Content, by)
		if err != nil {
			return err
		}
		if _, _, err := tx.WriteConfig(id, write, Condition{}); err != nil {
			return err
		}
	}
	if c.files.N == 0 {
		return nil
	}
	write, err := PrepareFiles(Revision{}, c.files.Content, nil, by)
	if err != nil {
		return err
	}
	_, _, err = tx.WriteFiles(id, write)
	return err
}

// ProjectFilter says which projects a list has. Accounts, Project and Public add projects to it; Within and Search
// leave others out.
type ProjectFilter struct {
	Accounts []string // all projects of these
	Project  int64    // also this one; 0: none
	Public   bool     // also public ones
	Within   string   // only those of this account; "": of all
	Search   string   // only those whose account/slug contains it; "": all
	After    Name     // see Name
	Limit    int      // how many at most
}

// ListProjects returns a page of projects, ordered by account and slug.
func (v View) ListProjects(f ProjectFilter) ([]Project, error) {
	// CROSS makes SQLite read the accounts in the order of their names, so that it reads no more than the page.
	q := v.Select().TableExpr("accounts AS a").Join("CROSS JOIN resources AS r").ColumnExpr("r.id").
		Where("r.account_id = a.id AND r.kind = 'project' AND r.deleted_at = 0 AND a.disabled_at = 0").
		Where("a.name >= ? AND (a.name > ? OR r.slug > ?)", f.After.Account, f.After.Account, f.After.Slug).
		OrderExpr("a.name, r.slug").Limit(int64(f.Limit))
	if f.Within != "" {
		q = q.Where("a.name = ?", f.Within)
	}
	q = q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		q = q.Where("a.name IN (?)", bun.List(append([]string{""}, f.Accounts...)))
		if f.Project != 0 {
			q = q.WhereOr("r.id = ?", f.Project)
		}
		if f.Public {
			q = q.WhereOr("EXISTS (SELECT 1 FROM projects AS p WHERE p.id = r.id AND p.visibility = 'public')")
		}
		return q
	})
	switch {
	case strings.ContainsAny(f.Search, `%_\`): // special in LIKE, and in no name
		return nil, nil
	case f.Search != "":
		q = q.Where("a.name || '/' || r.slug LIKE ?", "%"+strings.ToLower(f.Search)+"%")
	}
	var ids []int64
	if err := v.Scan(q, &ids); err != nil || len(ids) == 0 {
		return nil, err
	}
	ofThese, args := in(ids)
	found, err := sqldb.All(v, projectFields, selectProjects+"p.id "+ofThese, args...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b Project) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return found, nil
}

// ProjectState is which config and which files a project has at present, and who wrote them.
type ProjectState struct{ Config, Files WrittenBy }

// WrittenBy is the digest of a revision, "" for none, and who wrote it.
type WrittenBy struct{ Digest, User, Via string }

// ProjectState returns the state of a project, or ErrNotFound.
func (v View) ProjectState(id int64) (s ProjectState, err error) {
	c, f := &s.Config, &s.Files
	err = v.One(sqldb.Row(&c.Digest, &c.User, &c.Via, &f.Digest, &f.User, &f.Via), `SELECT
		c.digest, c.by_user, c.via, COALESCE(f.digest, ''), COALESCE(f.by_user, ''), COALESCE(f.via, '')
		FROM resources r`+joinNewest+" WHERE r.id = ? AND r.deleted_at = 0", id)
	return s, err
}
