package store

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// BaseSet is the set of base files that a project holds. Absent: none was pushed.
type BaseSet struct {
	bun.BaseModel `bun:"table:base_sets"`

	Account string `bun:",pk"`
	Slug    string `bun:",pk"`
	BaseFilesState
	Files     []byte // the tree's canonical form
	UpdatedAt Time
	UpdatedBy string
}

// BaseFilesState is what can be said of a set without its list. Tree "" stands for no set.
type BaseFilesState struct {
	Tree  string // the set's digest
	Count int
	Bytes int64
}

// Content is the content of base files, kept once within its account.
type Content struct {
	bun.BaseModel `bun:"table:contents"`

	Account   string `bun:",pk"`
	SHA256    string `bun:"sha256,pk"`
	Body      []byte
	CreatedAt Time
}

// PutContents stores contents in account; those that are there already stay.
func (tx *Tx) PutContents(ctx context.Context, account string, bodies map[string][]byte) error {
	if len(bodies) == 0 {
		return nil
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	rows := make([]Content, 0, len(bodies))
	for digest, body := range bodies {
		rows = append(rows, Content{Account: account, SHA256: digest, Body: body, CreatedAt: now})
	}
	_, err = tx.db.NewInsert().Model(&rows).On("CONFLICT (account, sha256) DO NOTHING").Exec(ctx)
	return err
}

// Content returns one content of account, or ErrNotFound.
func (tx *Tx) Content(ctx context.Context, account, digest string) ([]byte, error) {
	c := &Content{Account: account, SHA256: digest}
	err := wrap(tx.db.NewSelect().Model(c).WherePK().Scan(ctx))
	return c.Body, err
}

// BaseSet returns the set of a project; ErrNotFound when none was pushed or there is no such project.
func (tx *Tx) BaseSet(ctx context.Context, r ref.Ref) (*BaseSet, error) {
	b := &BaseSet{Account: r.Account(), Slug: r.Slug()}
	return b, wrap(tx.db.NewSelect().Model(b).WherePK().Scan(ctx))
}

// ErrSetExists says that a project holds base files where none may be replaced.
var ErrSetExists = errors.New("the project holds base files")

// SwapBaseFiles puts files in the place of a project's base files, all at once,
// and returns the set before (nil: none). Every content must be stored. Equal
// content changes nothing. With onlyFirst, a set that is there is ErrSetExists.
// ErrNotFound when there is no such project.
func (tx *Tx) SwapBaseFiles(ctx context.Context, r ref.Ref, by string, files tree.Tree, onlyFirst bool) (before tree.Tree, err error) {
	p := &Project{Account: r.Account(), Slug: r.Slug()}
	if err := tx.forUpdate(tx.db.NewSelect().Model(p).Column("slug").WherePK()).Scan(ctx); err != nil {
		return nil, wrap(err)
	}
	old, err := tx.BaseSet(ctx, r)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	there := err == nil
	if there {
		if onlyFirst {
			return nil, ErrSetExists
		}
		if before, err = tree.Parse(old.Files); err != nil {
			return nil, err
		}
	}
	set := &BaseSet{
		Account: r.Account(), Slug: r.Slug(), Files: files.Canonical(), UpdatedBy: by,
		BaseFilesState: BaseFilesState{Tree: files.Digest(), Count: len(files), Bytes: files.Bytes()},
	}
	if there && old.Tree == set.Tree {
		return before, nil
	}
	if set.UpdatedAt, err = tx.Now(ctx); err != nil {
		return nil, err
	}
	if there {
		_, err = tx.db.NewUpdate().Model(set).WherePK().Exec(ctx)
	} else {
		_, err = tx.db.NewInsert().Model(set).Exec(ctx)
	}
	return before, err
}
