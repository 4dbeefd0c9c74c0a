package store

import (
	"errors"
	"fmt"
	"strings"

	"example.com/projecthub/store/sqldb"
)

// API is a registered API description.
type API struct {
	Resource
	Title     string
	Version   string
	Format    string // openapi-3.1
	MediaType string
	Document  string // digest of a blob of the API: the description as it was uploaded
	JSON      string // digest of another: the description as JSON
	Targets   string // digest of another: what enrichments can refer to, as JSON
	UpdatedAt Time   // 0: never
	UpdatedBy string
}

const selectAPIs = `SELECT r.id, r.account_id, a.name, r.kind, r.slug, '', r.created_at, r.created_by,
	i.title, i.version, i.format, i.media_type, i.document, i.json, i.targets, i.updated_at, i.updated_by
	FROM apis i JOIN resources r ON r.id = i.id JOIN accounts a ON a.id = r.account_id WHERE r.deleted_at = 0 AND `

func apiFields(a *API) []any {
	return append(resourceFields(&a.Resource), &a.Title, &a.Version, &a.Format, &a.MediaType,
		&a.Document, &a.JSON, &a.Targets, &a.UpdatedAt, &a.UpdatedBy)
}

// API returns a registered API, or ErrNotFound.
func (v View) API(id int64) (a API, err error) {
	err = v.One(apiFields(&a), selectAPIs+"i.id = ?", id)
	return a, err
}

// APIs returns a page of the APIs of accounts, ordered by account and slug.
func (v View) APIs(accounts []string, after Name, limit int) ([]API, error) {
	ofThese, args := in(accounts)
	return sqldb.All(v, apiFields, selectAPIs+"a.name "+ofThese+` AND a.disabled_at = 0 AND r.kind = 'api'
		AND a.name >= ? AND (a.name > ? OR r.slug > ?) ORDER BY a.name, r.slug LIMIT ?`,
		append(args, after.Account, after.Account, after.Slug, limit)...)
}

// SimilarAPIs returns some APIs of an account that have this description, by its digest, and then some that have
// this title.
func (v View) SimilarAPIs(account int64, document, title string, limit int) ([]API, error) {
	return sqldb.All(v, apiFields, selectAPIs+`r.account_id = ? AND r.kind = 'api'
		AND (i.document = ? OR i.title = ? AND i.title <> '')
		ORDER BY CASE WHEN i.document = ? THEN 0 ELSE 1 END, r.slug LIMIT ?`, account, document, title, document, limit)
}

// AddAPI adds an API with its blobs, and returns its id. If the slug is taken, it is an ErrExists, or with
// free the slug gets a suffix: -2, -3, …
func (tx *Tx) AddAPI(a API, blobs []Blob, free bool) (id int64, err error) {
	slug := a.Slug
	for {
		if free {
			if slug, err = tx.freeSlug(a.AccountID, KindAPI, a.Slug); err != nil {
				return 0, err
			}
		}
		id, err = tx.AddResource(a.AccountID, KindAPI, slug, a.CreatedBy)
		takenMeanwhile := free && errors.Is(err, ErrExists) // by another transaction, which has committed
		if !takenMeanwhile {
			break
		}
	}
	if err != nil {
		return 0, err
	}
	if err := tx.PutBlobs(id, blobs); err != nil {
		return 0, err
	}
	return id, tx.exec(`INSERT INTO apis (id, title, version, format, media_type, document, json, targets)
		VALUES (`+sqldb.List(8)+")",
		id, a.Title, a.Version, a.Format, a.MediaType, a.Document, a.JSON, a.Targets)
}

// freeSlug returns the first of wish, wish-2, wish-3, … that no resource of the kind has.
func (v View) freeSlug(account int64, kind, wish string) (string, error) {
	stem := strings.TrimRight(wish, "-")
	found, err := sqldb.Column[string](v, `SELECT slug FROM resources
		WHERE account_id = ? AND kind = ? AND slug >= ? AND slug < ? AND deleted_at = 0`,
		account, kind, stem, stem+".") // a dot is the character after a hyphen
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for _, slug := range found {
		taken[slug] = true
	}
	slug := wish
	for n := 2; taken[slug]; n++ {
		slug = fmt.Sprintf("%s-%d", stem, n)
	}
	return slug, nil
}

// UpdateAPI replaces the description of an API, returns the API after that, and reports whether its document has
// changed. The same document also replaces its blobs, which may be damaged.
func (tx *Tx) UpdateAPI(id int64, a API, blobs []Blob, by string) (after API, changed bool, err error) {
	if err := tx.lock(id); err != nil {
		return after, false, err
	}
	former, err := tx.API(id)
	if err != nil {
		return after, false, err
	}
	if err := tx.namesOtherBlobs(id); err != nil {
		return after, false, err
	}
	if err := tx.PutBlobs(id, blobs); err != nil {
		return after, false, err
	}
	a.Resource, a.UpdatedAt, a.UpdatedBy = former.Resource, tx.Now(), by
	changed = a.Document != former.Document
	if !changed { // another version of the hub may have listed other targets
		former.JSON, former.Targets = a.JSON, a.Targets
		a = former
	}
	return a, changed, tx.exec(`UPDATE apis SET title = ?, version = ?, format = ?, media_type = ?, document = ?, json = ?,
		targets = ?, updated_at = ?, updated_by = ? WHERE id = ?`,
		a.Title, a.Version, a.Format, a.MediaType, a.Document, a.JSON, a.Targets, a.UpdatedAt, a.UpdatedBy, id)
}

// DeleteAPI deletes an API. ErrReference if a project uses it that is not deleted, ErrNotFound if the API was deleted
// before.
func (tx *Tx) DeleteAPI(id int64, by string) error {
	if err := tx.lock(id); err != nil {
		return err
	}
	users, err := tx.ProjectsUsing(id, 1)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return ErrReference
	}
	_, err = tx.trash(id, by)
	return err
}

// ProjectsUsing returns at most limit projects that use an API, ordered by account and slug.
func (v View) ProjectsUsing(api int64, limit int) ([]Project, error) {
	return sqldb.All(v, projectFields, selectProjects+"p.api_id = ? ORDER BY a.name, r.slug LIMIT ?", api, limit)
}
