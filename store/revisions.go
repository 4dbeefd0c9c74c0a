package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store/sqldb"
)

// RevisionKind says what a revision contains.
type RevisionKind string

// Kinds of revisions.
const (
	Config RevisionKind = "config" // canonical JSON, see package flat
	Files  RevisionKind = "files"  // a list of files, see tree.Tree
)

// Revision is the config of a project, or its list of files, after one write.
type Revision struct {
	N      int64  // counts the revisions of a project, of both kinds
	Digest string // SHA-256 of the content
	Parent string // digest of the revision before
	Author
	At                      Time
	Files, Bytes            int64 // number and size of the files; 0 in a config
	Added, Changed, Removed int   // files, or keys of the config, since the revision before
	Content                 []byte
	Damaged                 bool // the content cannot be read

	names       string // see Names
	base        int64  // number of the revision that the body is a patch of, see encode; 0: none
	body        []byte // the compressed content, or patch
	baseBody    []byte // body of the revision base
	baseContent []byte // decompressed
}

// NoConfig is the digest of a config that has no member, such as that of a new project.
const NoConfig = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

// HasConfig reports whether a config has a member.
func (r Revision) HasConfig() bool { return r.Digest != NoConfig }

// Written reports whether a caller wrote the revision. The config of a new project has no author, and no history shows
// it.
func (r Revision) Written() bool { return r.Via != "" }

// asParent returns the digest of the revision if it can be restored, else "".
func (r Revision) asParent() string {
	if r.Damaged || !r.Written() {
		return ""
	}
	return r.Digest
}

// Names are the first keys of a config, or paths of files, that a write has changed, each list in order.
type Names struct{ Added, Changed, Removed []string }

// maxNames bounds the names of a revision, in bytes, before they become JSON.
const maxNames = 4 << 10

// Names returns the names of what the write has changed; none if they are not known.
func (r Revision) Names() (n Names) {
	_ = json.Unmarshal([]byte(r.names), &n)
	return n
}

// changes counts what a write changes, and collects the names.
type changes struct {
	Names
	bytes int
}

// add counts a key or a file: was and is say whether it exists before and after the write.
func (c *changes) add(r *Revision, name string, was, is bool) {
	n, names := &r.Changed, &c.Changed
	switch {
	case !was:
		n, names = &r.Added, &c.Added
	case !is:
		n, names = &r.Removed, &c.Removed
	}
	*n++
	if c.bytes += len(name); c.bytes <= maxNames {
		*names = append(*names, name)
	}
}

// text returns the names as they are stored.
func (c *changes) text() (string, error) {
	text, err := json.Marshal(c.Names, jsontext.AllowInvalidUTF8(true))
	return string(text), err
}

// Author says who writes, how and why.
type Author struct {
	User, Via, Token, Request string // the user's name, the way, the token's name, the ID of the request
	Push                      string // the same in the config and the files of one push
	Message                   string
}

// headColumns are the columns of a revision without its content, in the order of headFields.
const headColumns = `r.n, r.digest, r.parent, r.by_user, r.via, r.token, r.request_id, r.push, r.message,
	r.at, r.files, r.bytes, r.added, r.changed, r.removed, r.names`

// A revision and the body of its base are read by one query, so that no write can drop the base in between.
const selectRevisions = "SELECT " + headColumns + `, r.base, r.body, b.body
	FROM revisions r LEFT JOIN revisions b ON b.project_id = r.project_id AND b.n = r.base `

func headFields(r *Revision) []any {
	return sqldb.Row(&r.N, &r.Digest, &r.Parent, &r.User, &r.Via, &r.Token, &r.Request, &r.Push, &r.Message,
		&r.At, &r.Files, &r.Bytes, &r.Added, &r.Changed, &r.Removed, &r.names)
}

// Newest returns the present revision of a kind; ErrNotFound if there is none. If it is damaged, it is returned with an
// ErrDamaged and without its content: a write may replace it.
func (v View) Newest(project int64, kind RevisionKind) (Revision, error) {
	return v.revision("WHERE r.project_id = ? AND r.kind = ? ORDER BY r.n DESC LIMIT 1", project, kind)
}

// Revision returns the newest revision with that digest; ErrNotFound if none is kept, ErrDamaged as Newest.
func (v View) Revision(project int64, kind RevisionKind, digest string) (Revision, error) {
	return v.revision("WHERE r.project_id = ? AND r.kind = ? AND r.digest = ? ORDER BY r.n DESC LIMIT 1",
		project, kind, digest)
}

// Numbered returns a revision of a kind by its number; ErrNotFound if it is not kept, ErrDamaged as Newest.
func (v View) Numbered(project int64, kind RevisionKind, n int64) (Revision, error) {
	return v.revision("WHERE r.project_id = ? AND r.n = ? AND r.kind = ?", project, n, kind)
}

func (v View) revision(where string, args ...any) (r Revision, err error) {
	fields := append(headFields(&r), &r.base, &r.body, &r.baseBody)
	if err = v.One(fields, selectRevisions+where, args...); err != nil {
		return r, err
	}
	err = r.Decode() // it changes r
	return r, err
}

// Decode decompresses and checks the content, or sets Damaged and returns an ErrDamaged.
func (r *Revision) Decode() (err error) {
	r.Content, err = Decompress(nil, r.body, maxContent)
	if err == nil && r.base != 0 {
		if r.baseContent, err = Decompress(nil, r.baseBody, maxContent); err == nil {
			r.Content, err = tree.Apply(r.baseContent, r.Content)
		}
	}
	if err == nil && Digest(r.Content) != r.Digest {
		err = errOtherContent
	}
	if err != nil {
		r.Damaged, r.Content, r.base, r.body, r.baseContent = true, nil, 0, nil, nil
		err = fmt.Errorf("%w: revision %d: %w", ErrDamaged, r.N, err)
	}
	return err
}

// NewestDigest returns the digest of the present revision of a kind, "" if there is none, and whether files may be
// missing since a repair.
func (v View) NewestDigest(project int64, kind RevisionKind) (digest string, incomplete bool, err error) {
	last, err := v.head(project, kind)
	return last.digest, last.incomplete, err
}

// head is what the next revision of a kind needs of the newest one; n 0: there is none.
type head struct {
	n, nth int64  // its number, and its number among those of its kind
	bytes  int64  // of the bodies and names of its kind, its own and all before, also of dropped ones
	digest string // of its content

	newest     int64  // number of the newest revision of both kinds
	at         Time   // when this was read
	incomplete bool   // files may be missing since a repair
	schema     string // digest of the schema that the next config must pass; "": none
}

func (v View) head(project int64, kind RevisionKind) (h head, err error) {
	err = v.One(sqldb.Row(&h.n, &h.nth, &h.bytes, &h.digest, &h.newest, &h.at, &h.incomplete, &h.schema),
		`SELECT COALESCE(r.n, 0), COALESCE(r.nth, 0), COALESCE(r.total + length(r.body) + octet_length(r.names), 0),
		COALESCE(r.digest, ''),
		COALESCE((SELECT n FROM revisions WHERE project_id = ? ORDER BY n DESC LIMIT 1), 0), @now,
		(SELECT incomplete FROM resources WHERE id = p.id),
		CASE WHEN p.enforce_schema THEN COALESCE(sv.schema, '') ELSE '' END FROM projects p`+schemaTables+`
		LEFT JOIN revisions r ON r.project_id = p.id AND r.kind = ?
			AND r.n = (SELECT n FROM revisions WHERE project_id = ? AND kind = ? ORDER BY n DESC LIMIT 1)
		WHERE p.id = ?`, project, kind, project, kind, project)
	return h, err
}

// lockHead is head, after it has locked the project until the end of the transaction: see lock.
func (tx *Tx) lockHead(project int64, kind RevisionKind) (head, error) {
	if err := tx.lock(project); err != nil {
		return head{}, err
	}
	return tx.head(project, kind)
}

// History returns at most limit revisions of a kind that callers wrote, newest first, without their contents. They
// are older than the revision with the number before; 0 begins with the newest.
func (v View) History(project int64, kind RevisionKind, before int64, limit int) ([]Revision, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return sqldb.All(v, headFields, "SELECT "+headColumns+` FROM revisions r
		WHERE r.project_id = ? AND r.kind = ? AND r.via <> '' AND r.n < ? ORDER BY r.n DESC LIMIT ?`,
		project, kind, before, limit)
}

// add adds a revision after the one before, and deletes those that are no longer kept. last is what lockHead returned
// for its kind.
func (tx *Tx) add(project int64, kind RevisionKind, last head, before, r Revision) (Revision, error) {
	r.N, r.At = last.newest+1, last.at
	err := tx.send(`INSERT INTO revisions (project_id, kind, n, nth, total, digest, parent, by_user, via, token,
		request_id, push, message, at, files, bytes, added, changed, removed, names, base, body) VALUES (`+
		sqldb.List(22)+")",
		project, kind, r.N, last.nth+1, last.bytes, r.Digest, r.Parent, r.User, r.Via, r.Token, r.Request,
		r.Push, r.Message, r.At, r.Files, r.Bytes, r.Added, r.Changed, r.Removed, r.names, r.base, r.body)
	if err == nil && before.Damaged { // it is of no use, and each hub fsck would report it
		err = tx.exec("DELETE FROM revisions WHERE project_id = ? AND n = ?", project, before.N)
	}
	if err != nil {
		return r, err
	}
	newest := head{n: r.N, nth: last.nth + 1, bytes: last.bytes + int64(len(r.body)+len(r.names)), at: r.At}
	return r, tx.trim(project, kind, newest)
}

// Retention says which revisions a project keeps: the newest configs and those that are younger than Age, but no more
// than Bytes; and the newest lists of files. The newest one of each kind is always kept.
type Retention struct {
	Revisions int64         // how many configs
	Age       time.Duration // of configs
	Bytes     int64         // of the bodies and names of configs
	Lists     int64         // how many lists of files
}

// DefaultRetention is what a hub keeps by default.
var DefaultRetention = Retention{Revisions: 200, Age: 90 * 24 * time.Hour, Bytes: 64 << 20, Lists: 20}

// trim deletes the revisions of a kind that tx.keep no longer keeps, except one: the base of the oldest revision that
// is kept. Newer ones have the same base, or one that is kept.
func (tx *Tx) trim(project int64, kind RevisionKind, newest head) error {
	keep := tx.keep
	if kind == Files { // the number of lists alone decides
		keep = Retention{Revisions: tx.keep.Lists, Bytes: math.MaxInt64}
	}
	if newest.nth <= keep.Revisions && newest.bytes <= keep.Bytes {
		return nil
	}
	var first, base int64 // the first revision to keep, and its base
	err := tx.One(sqldb.Row(&first, &base), `SELECT n, base FROM revisions WHERE project_id = ? AND kind = ?
		AND (total >= ? AND (nth > ? OR at > ?) OR n = ?) ORDER BY n LIMIT 1`, project, kind,
		newest.bytes-keep.Bytes, newest.nth-keep.Revisions, newest.at.Add(-keep.Age), newest.n)
	if err == nil {
		err = tx.send("DELETE FROM revisions WHERE project_id = ? AND kind = ? AND n < ? AND n <> ?",
			project, kind, first, base)
	}
	return err
}

// TrimHistories deletes the configs that have become too old, and returns in how many projects. A write does so in
// its own project only. It does nothing if a hub did so within the time every.
func (s *Store) TrimHistories(ctx context.Context, every time.Duration) (trimmed int, err error) {
	if due, err := s.due(ctx, "trim histories", every); err != nil || !due {
		return 0, err
	}
	projects, err := sqldb.Column[int64](s.View(ctx), `SELECT p.id FROM projects p
		JOIN revisions o ON o.project_id = p.id
			AND o.n = (SELECT MIN(n) FROM revisions WHERE project_id = p.id AND kind = 'config')
		JOIN revisions l ON l.project_id = p.id
			AND l.n = (SELECT n FROM revisions WHERE project_id = p.id AND kind = 'config' ORDER BY n DESC LIMIT 1)
		WHERE o.at <= @now - ? AND o.nth <= l.nth - ?`, s.Retention.Age.Microseconds(), s.Retention.Revisions)
	if err != nil {
		return 0, err
	}
	for _, project := range projects {
		err := s.Write(ctx, func(tx *Tx) error {
			last, err := tx.lockHead(project, Config)
			if errors.Is(err, ErrNotFound) { // it was purged meanwhile
				return nil
			}
			if err == nil {
				err = tx.trim(project, Config, last)
			}
			return err
		})
		if err != nil {
			return trimmed, err
		}
		trimmed++
	}
	return trimmed, nil
}

// encode compresses the content of a list of files into body. Of two lists of 10,000 files that differ in one, each is
// 410 KB in zstd, but a patch is 100 bytes. The base of the patch is the list before, or that list's own base if it is
// a patch itself, so that a list is read from at most two rows. Once the patch would be larger than an eighth of the
// list, the list is stored whole.
func (r *Revision) encode(before Revision) error {
	base, content := before.base, before.baseContent
	if base == 0 {
		base, content = before.N, before.Content
	}
	if !before.Damaged && base != 0 {
		patch, err := tree.Patch(content, r.Content)
		if err != nil {
			return err
		}
		if len(patch) <= len(r.Content)/8 {
			r.base, r.body = base, Compress(patch)
			return nil
		}
	}
	r.base, r.body = 0, Compress(r.Content)
	return nil
}

// Digest returns the SHA-256 of a content, in 64 lower-case hex digits.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
