package store

import (
	"context"
	"errors"
	"slices"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
)

// Stack is a published stack. Its row comes with its first version.
type Stack struct {
	bun.BaseModel `bun:"table:stacks"`

	Account string `bun:",pk"`
	Slug    string `bun:",pk"`
	Latest  string // highest release that is not withdrawn; a pre-release only when there is no release
	Newest  string // highest of all
}

// StackVersion is one published version. It never changes, but it may be withdrawn.
type StackVersion struct {
	bun.BaseModel `bun:"table:stack_versions"`

	Account     string `bun:",pk"`
	Slug        string `bun:",pk"`
	Version     string `bun:",pk"`
	Digest      string
	SizeBytes   int64
	FileCount   int
	PublishedAt Time
	PublishedBy string

	WithdrawnAt Time `bun:",scanonly"` // 0: it was not withdrawn
}

// Bundle is the content of a stack version, as it was sent.
type Bundle struct {
	MediaType string
	Pieces    [][]byte // of at most [PieceSize]
	Schema    []byte   // the JSON Schema of settings in it; nil: none
}

// bundleRow is what is stored of a bundle besides its pieces.
type bundleRow struct {
	bun.BaseModel `bun:"table:stack_bundles"`

	Account   string `bun:",pk"`
	Slug      string `bun:",pk"`
	Version   string `bun:",pk"`
	MediaType string
	Body      []byte // of an older row; else empty
}

func bundleBody(account, slug, version string) *Body {
	return &Body{kind: kindBundle, account: account, slug: slug, version: version}
}

// ErrVersionExists says that a version is published with other content.
var ErrVersionExists = errors.New("this version is published with other content")

// NotNewerError says that a version is not above the newest one.
type NotNewerError struct{ Newest string }

func (e *NotNewerError) Error() string { return "the newest version is " + e.Newest }

// Published is the outcome of PublishVersion.
type Published struct {
	Version StackVersion
	Already bool // the same content was there before
	First   bool // the stack came to be

	Repaired bool // the content was there before, and damaged, or its schema
}

// PublishVersion adds a version to a stack, which comes to be with its first one.
// Publishing the same content again is not an error, and replaces a damaged one; ErrVersionExists,
// ErrWithdrawn or a *NotNewerError is.
func (tx *Tx) PublishVersion(ctx context.Context, v *StackVersion, b *Bundle) (*Published, error) {
	stack, there, err := tx.lockedStack(ctx, v.Account, v.Slug, v.Version)
	switch {
	case err != nil:
		return nil, err
	case there != nil && there.WithdrawnAt != 0:
		return nil, ErrWithdrawn
	case there != nil && there.Digest == v.Digest:
		bundle, err := tx.repairBundle(ctx, there, v, b)
		if err != nil {
			return nil, err
		}
		schema, err := tx.repairSchema(ctx, v, b.Schema)
		return &Published{Version: *there, Already: true, Repaired: bundle || schema}, err
	case there != nil:
		return nil, ErrVersionExists
	}
	if stack.Newest != "" && version.Compare(v.Version, stack.Newest) <= 0 {
		return nil, &NotNewerError{stack.Newest}
	}
	v.PublishedAt = tx.now
	first := stack.Newest == ""
	stack.Newest = v.Version
	stack.Latest = version.Latest(stack.Latest, v.Version)
	err = tx.send(ctx, "UPDATE stacks SET latest = ?, newest = ? WHERE account = ? AND slug = ?", stack.Latest, stack.Newest, v.Account, v.Slug)
	if err != nil {
		return nil, err
	}
	if err := tx.sendRow(ctx, v); err != nil {
		return nil, err
	}
	row := &bundleRow{Account: v.Account, Slug: v.Slug, Version: v.Version, MediaType: b.MediaType, Body: []byte{}}
	if err := tx.sendRow(ctx, row); err != nil {
		return nil, err
	}
	if err := tx.addPieces(ctx, bundleBody(v.Account, v.Slug, v.Version), b.Pieces); err != nil {
		return nil, err
	}
	return &Published{Version: *v, First: first}, tx.addSchema(ctx, v, b.Schema)
}

var versionColumns = modelColumns[StackVersion]()

// lockedStack returns the stack's row, locked, after making it where it is absent, and one
// version of it, nil for none.
func (tx *Tx) lockedStack(ctx context.Context, account, slug, number string) (*Stack, *StackVersion, error) {
	s := &Stack{}
	v := &StackVersion{Account: account, Slug: slug, Version: number}
	err := tx.send(ctx, "INSERT INTO stacks (account, slug, latest, newest) VALUES (?, ?, '', '') ON CONFLICT (account, slug) DO NOTHING", account, slug)
	if err != nil {
		return nil, nil, err
	}
	found := &question{dest: v, args: []any{account, slug, number}, query: "SELECT " + versionColumns + ", " + withdrawnAt + " FROM stack_versions AS v WHERE account = ? AND slug = ? AND version = ?"}
	if err := tx.askWithNow(ctx,
		&question{dest: s, args: []any{account, slug}, query: "SELECT account, slug, latest, newest FROM stacks WHERE account = ? AND slug = ?" + tx.lock()},
		found); err != nil || found.found {
		return s, v, err
	}
	return s, nil, nil
}

// Stack returns a stack with its versions, newest first, or ErrNotFound.
func (v *View) Stack(ctx context.Context, r ref.Ref) (*Stack, []StackVersion, error) {
	s := &Stack{Account: r.Account(), Slug: r.Slug()}
	if err := wrap(v.db.NewSelect().Model(s).WherePK().Scan(ctx)); err != nil {
		return nil, nil, err
	}
	var versions []StackVersion
	if err := v.versions(r.Account(), r.Slug()).Scan(ctx, &versions); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(versions, func(a, b StackVersion) int { return version.Compare(b.Version, a.Version) })
	return s, versions, nil
}

// Followers counts the projects that follow a stack's latest version, up to most.
func (v *View) Followers(ctx context.Context, r ref.Ref, most int) (n int, err error) {
	followers := notDeleted(v.db.NewSelect().Model((*Project)(nil))).ColumnExpr("1").Where("stack_account = ?", r.Account()).
		Where("stack_slug = ?", r.Slug()).Where("stack_version = 'latest'").Limit(int64(most))
	err = v.db.NewSelect().TableExpr("(?) AS f", followers).ColumnExpr("count(*)").Scan(ctx, &n)
	return n, err
}

// StackVersion returns one version, or ErrNotFound.
func (v *View) StackVersion(ctx context.Context, r ref.Ref, number string) (*StackVersion, error) {
	found := &StackVersion{}
	return found, wrap(v.versions(r.Account(), r.Slug()).Where("v.version = ?", number).Scan(ctx, found))
}

// Bundle says what is stored as the content of one version; ErrNotFound, or
// ErrDamaged when that is not all of it.
func (v *View) Bundle(ctx context.Context, r ref.Ref, number string) (*Body, error) {
	published, err := v.StackVersion(ctx, r, number)
	if err != nil {
		return nil, err
	}
	return v.bundle(ctx, published)
}

func (v *View) bundle(ctx context.Context, published *StackVersion) (*Body, error) {
	b := bundleBody(published.Account, published.Slug, published.Version)
	if _, err := v.measure(ctx, b); err != nil {
		return nil, err
	}
	if b.Size != published.SizeBytes {
		return nil, b.damaged("its size is another")
	}
	return b, nil
}

// repairBundle stores the content of a version again if it is damaged.
func (tx *Tx) repairBundle(ctx context.Context, there, v *StackVersion, b *Bundle) (repaired bool, err error) {
	body, err := tx.bundle(ctx, there)
	if err == nil {
		err = tx.check(ctx, body)
	}
	if !errors.Is(err, ErrDamaged) {
		return false, err
	}
	if err := tx.replace(ctx, bundleBody(v.Account, v.Slug, v.Version), b.MediaType, b.Pieces); err != nil {
		return false, err
	}
	there.SizeBytes = v.SizeBytes // the same files may be compressed in another way
	_, err = tx.db.NewUpdate().Model(there).Column("size_bytes").WherePK().Exec(ctx)
	return true, err
}

// resolveStackVersion returns the exact version that number means, or ErrNotFound.
func (v *View) resolveStackVersion(ctx context.Context, account, slug, number string) (string, error) {
	if number == "latest" {
		s := &Stack{Account: account, Slug: slug}
		err := wrap(v.db.NewSelect().Model(s).WherePK().Scan(ctx))
		return s.Latest, err
	}
	found := &StackVersion{Account: account, Slug: slug, Version: number}
	return number, wrap(v.db.NewSelect().Model(found).Column("version").WherePK().Scan(ctx))
}
