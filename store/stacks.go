package store

import (
	"errors"
	"slices"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/store/sqldb"
)

// Stack is what is stored of a stack in addition to its [Resource].
type Stack struct {
	Latest string // highest release that is not withdrawn; a pre-release only if there is no release; "": no version
	Newest string // highest version of all; "": none
}

// StackVersion is a published version of a stack. It never changes, but it may be withdrawn.
type StackVersion struct {
	Version     string
	Tree        string // digest of the list of its files
	Schema      string // digest of the JSON Schema of its settings, one of its files; "": none
	SizeBytes   int64  // of its files
	FileCount   int
	PublishedAt Time
	PublishedBy string
	WithdrawnAt Time // 0: it was not withdrawn
}

const versionColumns = `version, tree, schema, size_bytes, file_count, published_at, published_by, withdrawn_at`

func versionFields(v *StackVersion) []any {
	return sqldb.Row(&v.Version, &v.Tree, &v.Schema, &v.SizeBytes, &v.FileCount,
		&v.PublishedAt, &v.PublishedBy, &v.WithdrawnAt)
}

// Why a version cannot be published or withdrawn.
var (
	ErrWithdrawn   = errors.New("this version was withdrawn")
	ErrOnlyVersion = errors.New("the stack has no other version")
)

// NotNewerError says that a version is not above Newest, the newest one of the stack.
type NotNewerError struct{ Newest string }

func (e *NotNewerError) Error() string { return "the newest version is " + e.Newest }

// AddStack returns the id of the stack with that name, which it adds if it does not exist, so that blobs of its first
// version can be stored. Until that is published, [View.Stack] does not find the stack.
func (tx *Tx) AddStack(account int64, slug, by string) (id int64, err error) {
	id, err = tx.AddResource(account, KindStack, slug, by)
	if errors.Is(err, ErrExists) {
		err = tx.One(sqldb.Row(&id), `SELECT id FROM resources
			WHERE account_id = ? AND kind = 'stack' AND slug = ? AND deleted_at = 0`, account, slug)
		return id, err
	}
	if err != nil {
		return 0, err
	}
	return id, tx.exec("INSERT INTO stacks (id, latest, newest) VALUES (?, '', '')", id)
}

// Stack returns a stack with its versions, newest first; ErrNotFound if it has none.
func (v View) Stack(id int64) (s Stack, versions []StackVersion, err error) {
	if s, err = v.stack(id); err != nil {
		return s, nil, err
	}
	versions, err = sqldb.All(v, versionFields,
		"SELECT "+versionColumns+" FROM stack_versions WHERE stack_id = ?", id)
	if err != nil {
		return s, nil, err
	}
	if len(versions) == 0 {
		return s, nil, ErrNotFound
	}
	slices.SortFunc(versions, func(a, b StackVersion) int { return version.Compare(b.Version, a.Version) })
	return s, versions, nil
}

func (v View) stack(id int64) (s Stack, err error) {
	err = v.One(sqldb.Row(&s.Latest, &s.Newest), `SELECT s.latest, s.newest FROM stacks s
		JOIN resources r ON r.id = s.id AND r.deleted_at = 0 WHERE s.id = ?`, id)
	return s, err
}

// StackVersion returns a version of a stack, or ErrNotFound.
func (v View) StackVersion(id int64, number string) (found StackVersion, err error) {
	err = v.One(versionFields(&found), "SELECT "+versionColumns+
		" FROM stack_versions WHERE stack_id = ? AND version = ?", id, number)
	return found, err
}

// StackFiles returns the files of a version, or ErrNotFound.
func (v View) StackFiles(id int64, number string) (tree.Tree, error) {
	return v.files(id, 0, number)
}

// Followers returns how many projects follow the latest version of a stack. It counts no more than limit.
func (v View) Followers(id int64, limit int) (n int, err error) {
	err = v.One(sqldb.Row(&n), `SELECT count(*) FROM (SELECT 1 FROM projects p JOIN resources r ON r.id = p.id
		WHERE p.stack_id = ? AND p.stack_version = 'latest' AND r.deleted_at = 0 LIMIT ?) f`, id, limit)
	return n, err
}

// VersionWrite is a prepared publication of a version: see PrepareVersion and [Tx.PublishVersion].
type VersionWrite struct {
	StackVersion
	body   []byte    // the list of files, compressed
	unsure tree.Tree // a file for each blob that was not sent
}

// PrepareVersion prepares a publication outside of its transaction: it compresses the list of files. schema is the
// digest of the JSON Schema of the settings, "" for none; sent has the digests of the blobs that the upload has stored.
func PrepareVersion(number string, files tree.Tree, schema string, sent map[string]bool, by string) VersionWrite {
	content := files.Canonical()
	return VersionWrite{
		StackVersion: StackVersion{
			Version: number, Tree: Digest(content), Schema: schema,
			SizeBytes: files.Bytes(), FileCount: len(files), PublishedBy: by,
		},
		body: Compress(content), unsure: without(files, sent),
	}
}

// Published is the result of PublishVersion.
type Published struct {
	StackVersion
	Already bool // the same files were published before
	First   bool // it is the stack's first version
}

// PublishVersion adds a version to a stack. If it is published already, with the same files, it succeeds and
// replaces the stored list, which may be damaged; with other files it is an ErrExists. ErrWithdrawn if the version
// was withdrawn, a *NotNewerError if it is not above all others; ErrMissing, with their digests, if blobs are not
// stored, and ErrSize if one has another size.
func (tx *Tx) PublishVersion(id int64, w VersionWrite) (p Published, missing []string, err error) {
	if err := tx.lock(id); err != nil {
		return p, nil, err
	}
	stack, err := tx.stack(id)
	if err != nil {
		return p, nil, err
	}
	former, err := tx.StackVersion(id, w.Version)
	if err == nil {
		return tx.republishVersion(id, former, w)
	}
	if !errors.Is(err, ErrNotFound) {
		return p, nil, err
	}
	isFirst := stack.Newest == ""
	if !isFirst && version.Compare(w.Version, stack.Newest) <= 0 {
		return p, nil, &NotNewerError{stack.Newest}
	}
	if missing, err = tx.missingBlobs(id, w.unsure); err != nil {
		return p, missing, err
	}
	if err := tx.namesOtherBlobs(id); err != nil {
		return p, nil, err
	}
	w.PublishedAt = tx.Now()
	err = tx.exec(`INSERT INTO stack_versions (stack_id, version, tree, schema, size_bytes, file_count, published_at,
		published_by, withdrawn_at, body) VALUES (`+sqldb.List(10)+")", id, w.Version, w.Tree, w.Schema, w.SizeBytes,
		w.FileCount, w.PublishedAt, w.PublishedBy, w.WithdrawnAt, w.body)
	if err != nil {
		return p, nil, err
	}
	err = tx.exec("UPDATE stacks SET latest = ?, newest = ? WHERE id = ?",
		version.Latest(stack.Latest, w.Version), w.Version, id)
	return Published{StackVersion: w.StackVersion, First: isFirst}, nil, err
}

// republishVersion is PublishVersion for a version that is published already.
func (tx *Tx) republishVersion(id int64, former StackVersion, w VersionWrite) (
	p Published, missing []string, err error,
) {
	if former.WithdrawnAt != 0 {
		return p, nil, ErrWithdrawn
	}
	if former.Tree != w.Tree {
		return p, nil, ErrExists
	}
	if missing, err = tx.missingBlobs(id, w.unsure); err != nil {
		return p, missing, err
	}
	// What is stored of it may be damaged.
	err = tx.exec("UPDATE stack_versions SET body = ?, schema = ? WHERE stack_id = ? AND version = ?",
		w.body, w.Schema, id, w.Version)
	return Published{StackVersion: former, Already: true}, nil, err
}

// WithdrawVersion withdraws a version of a stack, or with undo reverses that. It returns which version is the latest
// then, and whether anything changed. ErrNotFound if the version does not exist, ErrOnlyVersion if no other one
// would be left.
func (tx *Tx) WithdrawVersion(id int64, number string, undo bool) (latest string, changed bool, err error) {
	if err := tx.lock(id); err != nil {
		return "", false, err
	}
	stack, versions, err := tx.Stack(id)
	if err != nil {
		return "", false, err
	}
	i := slices.IndexFunc(versions, func(v StackVersion) bool { return v.Version == number })
	if i < 0 {
		return "", false, ErrNotFound
	}
	isWithdrawn, withdraw := versions[i].WithdrawnAt != 0, !undo
	if isWithdrawn == withdraw {
		return stack.Latest, false, nil
	}
	at := Time(0)
	if withdraw {
		at = tx.Now()
	}
	versions[i].WithdrawnAt = at
	for _, v := range versions {
		if v.WithdrawnAt == 0 {
			latest = version.Latest(latest, v.Version)
		}
	}
	if latest == "" {
		return "", false, ErrOnlyVersion
	}
	err = tx.exec("UPDATE stack_versions SET withdrawn_at = ? WHERE stack_id = ? AND version = ?", at, id, number)
	if err != nil {
		return "", false, err
	}
	return latest, true, tx.exec("UPDATE stacks SET latest = ? WHERE id = ?", latest, id)
}
