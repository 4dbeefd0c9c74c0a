package api

import (
	"net/url"
	"strconv"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// refTo returns the ref of a resource, whose name was checked when it was stored.
func refTo(r store.Resource) ref.Ref { return refOf(r.Account, r.Slug) }

func refOf(account, slug string) ref.Ref {
	r, _ := ref.New(account, slug)
	return r
}

func atLeast(role string, needed wire.Role) bool {
	return store.Rank(role) >= store.Rank(string(needed))
}

const (
	defaultPage = 50
	maxPage     = 200
)

func pageLimit(q url.Values) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return defaultPage, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxPage {
		return 0, request.InvalidBody("", "limit must be a number from 1 to %d, not %q", maxPage, text)
	}
	return limit, nil
}

// pageQuery is which page of a list a query asks for: at most limit items after the cursor, "" for the first page.
type pageQuery struct {
	cursor string
	limit  int
}

func requestedPage(c *request.Call) (page pageQuery, err error) {
	q := c.R.URL.Query()
	page.cursor = q.Get("cursor")
	page.limit, err = pageLimit(q)
	return page, err
}

func invalidCursor() error {
	return request.InvalidBody("", "invalid cursor: send the nextCursor of a page")
}

// Page is requestedPage for a list in the order of accounts and slugs. The zero name is before all others.
func Page(q url.Values) (after store.Name, limit int, err error) {
	if limit, err = pageLimit(q); err != nil {
		return after, 0, err
	}
	if text := q.Get("cursor"); text != "" {
		last, err := ref.Parse(text)
		if err != nil {
			return after, 0, invalidCursor()
		}
		after = store.Name{Account: last.Account(), Slug: last.Slug()}
	}
	return after, limit, nil
}

// pageOf returns the items of a page, and the cursor of the next page, "" if this is the last. The caller has read
// up to limit+1 rows: one more row says that there is another page.
func pageOf[Row, Item any](
	rows []Row, limit int, show func(*Row) Item, cursor func(*Row) string,
) (items []Item, next string) {
	if len(rows) > limit {
		rows = rows[:limit]
		next = cursor(&rows[limit-1])
	}
	items = []Item{}
	for i := range rows {
		items = append(items, show(&rows[i]))
	}
	return items, next
}

// listQuery is which page of a list of resources a query asks for.
type listQuery struct {
	account string // "": all that the caller has a role on
	after   store.Name
	limit   int
}

// listParameters reads ?account=, ?cursor= and ?limit=: 422 if one is invalid.
func listParameters(c *request.Call) (a listQuery, err error) {
	q := c.R.URL.Query()
	a.account = q.Get("account")
	if a.account != "" && !ref.ValidName(a.account) {
		return a, request.InvalidBody("", "%q is not an account: an account is %s", a.account, ref.Rule)
	}
	a.after, a.limit, err = Page(q)
	return a, err
}

// accounts returns the names of the accounts to list: 403 if the caller lacks the role on the one that was asked for.
func (a listQuery) accounts(c *request.Call, needed wire.Role) ([]string, error) {
	if a.account == "" {
		return accountsWith(c, needed)
	}
	_, err := c.Permit(store.AccessQuery{Account: a.account}, needed, "")
	return []string{a.account}, err
}

// Content returns the content of a blob, for which it takes room: ErrDamaged if it is missing or not what its digest
// says.
func Content(c *request.Call, resource int64, digest string) ([]byte, error) {
	size, err := c.View().BlobSize(resource, digest)
	if err != nil {
		return nil, err
	}
	if err := c.NeedAtMost(2 * size); err != nil { // as it is stored, too
		return nil, err
	}
	blobs, err := c.View().Blobs(resource, []string{digest})
	if err != nil {
		return nil, err
	}
	return blobs[digest].Open(nil)
}
