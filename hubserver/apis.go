package hubserver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/description"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/store"
)

// descriptionTypes are the media types of an upload; the content decides its format.
var descriptionTypes = []string{
	"application/json", "application/yaml", "application/x-yaml", "text/yaml",
	"application/vnd.oai.openapi", "application/vnd.oai.openapi+json", "application/vnd.oai.openapi+yaml",
	"application/octet-stream", "",
}

func (s *Server) uploadAPI(c *call) error {
	if err := c.needMediaType(descriptionTypes...); err != nil {
		return err
	}
	if c.r.Header.Get("Content-Encoding") != "" {
		return unsupported("a description must not have a Content-Encoding")
	}
	data, err := c.readAll(uploading, "the description", s.Limits.DescriptionBytes)
	if err != nil {
		return err
	}
	account, slug := c.accountOf(wire.InQuery), c.r.URL.Query().Get("slug")
	if err := checkSlug("", slug); err != nil {
		return err
	}
	return c.createOnce(data, requestDecides, func(commit func(creation) error) error {
		return c.register(account, slug, data, commit)
	})
}

func (s *Server) importAPI(c *call) error {
	var req wire.ImportAPI
	body, err := c.readJSON("the body", maxJSON, &req)
	if err != nil {
		return err
	}
	if err := checkSlug("/slug", req.Slug); err != nil {
		return err
	}
	account := req.Account
	if account == "" {
		account = c.who.user
	}
	if !ref.ValidName(account) {
		return invalidBody("/account", "%q is not an account: an account is %s", account, ref.Rule)
	}
	if err := fetch.CheckURL(req.URL); err != nil {
		return fetchProblem(err)
	}
	if err := c.permit(account, wire.Writer, wire.ScopeWriteCatalog); err != nil {
		return err
	}
	return c.createOnce(body, othersDecide, func(commit func(creation) error) error {
		data, err := s.Fetch.Get(c.ctx(), account, req.URL, func(r io.Reader) ([]byte, error) {
			return c.readInto(uploading, r, 0, s.Limits.DescriptionBytes)
		})
		if err != nil {
			return fetchProblem(err)
		}
		return c.register(account, req.Slug, data, commit)
	})
}

func checkSlug(pointer, slug string) error {
	if slug != "" && !ref.ValidName(slug) {
		return invalidBody(pointer, "%q is not a slug: a slug is %s", slug, ref.Rule)
	}
	return nil
}

func fetchProblem(err error) error {
	var invalid *fetch.InvalidURL
	var tooBig *fetch.TooLarge
	var busy *fetch.Busy
	var refused *fetch.Refused
	var own *problem
	switch {
	case errors.As(err, &own): // not enough memory
		return own
	case errors.As(err, &invalid):
		return invalidBody("/url", "%v", invalid)
	case errors.As(err, &tooBig):
		return tooLarge("the description", tooBig.Limit)
	case errors.As(err, &busy):
		return problemf(http.StatusTooManyRequests, wire.CodeRateLimited, "%v", busy).with("Retry-After", "1")
	case errors.As(err, &refused):
		return problemf(http.StatusUnprocessableEntity, wire.CodeAddressRefused, "%v", refused).because(refused.Unwrap())
	}
	return err
}

// parse reads a description when it is its turn.
func (c *call) parse(data []byte) (*description.Description, error) {
	l, err := c.s.memory.acquire(c.ctx(), describing, c.client(), 0)
	if err != nil {
		return nil, err
	}
	defer l.release()
	return description.Parse(c.ctx(), data, func(bytes int64) error { return l.resize(c.ctx(), bytes) })
}

// maxTitle bounds the title and the version of a description, in bytes.
const maxTitle = 1000

// register stores a description as a new API and responds with it.
func (c *call) register(account, slug string, data []byte, commit func(creation) error) error {
	found, err := c.parse(data)
	var invalid *description.Invalid
	if errors.As(err, &invalid) {
		p := problemf(http.StatusUnprocessableEntity, wire.CodeInvalidDescription, "%v", invalid)
		p.Errors = invalid.Reasons
		return p
	}
	if err != nil {
		return err
	}
	if len(found.Title) > maxTitle || len(found.Version) > maxTitle || strings.ContainsRune(found.Title+found.Version, 0) {
		return problemf(http.StatusUnprocessableEntity, wire.CodeInvalidDescription,
			"the API description's title or version is longer than %d bytes or contains a NUL", maxTitle)
	}
	sum := sha256.Sum256(data)
	free := slug == ""
	if free {
		slug = description.Slug(found.Title)
	}
	err = commit(func(tx *store.Tx) (reply, error) {
		row := &store.API{
			Account: account, Slug: slug, Title: found.Title, Version: found.Version, Format: found.Format,
			SHA256: hex.EncodeToString(sum[:]), CreatedBy: c.who.user,
		}
		if err := tx.CreateAPI(c.ctx(), row, &store.Document{MediaType: found.MediaType, Text: data}, free); err != nil {
			return reply{}, err
		}
		api := refOf(row.Account, row.Slug)
		return reply{
			status: http.StatusCreated,
			header: map[string]string{"Location": "/v1/apis/" + api.Path()},
			body:   toAPI(row),
		}, c.audit(c.ctx(), tx, account, "api.register", api.String(), row.SHA256)
	})
	if errors.Is(err, store.ErrExists) {
		if err := c.repairDocument(refOf(account, slug), &store.Document{MediaType: found.MediaType, Text: data}); err != nil {
			return err
		}
		return problemf(http.StatusConflict, wire.CodeAPIExists, "%s already exists", refOf(account, slug))
	}
	return err
}

// repairDocument replaces the document of a registered API if it is damaged and the same
// document is uploaded again.
func (c *call) repairDocument(api ref.Ref, d *store.Document) error {
	var repaired bool
	err := c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		repaired, err = tx.RepairDocument(c.ctx(), api, d)
		return err
	})
	if repaired {
		c.s.Log.Warn("a damaged document was replaced", "request", c.id, "api", api.String())
	}
	return err
}

func (s *Server) listAPIs(c *call) error {
	account, after, limit, err := c.listParameters()
	if err != nil {
		return err
	}
	if account != "" {
		if err := c.permit(account, wire.Reader, ""); err != nil {
			return err
		}
	}
	accounts, err := c.listed(account)
	if err != nil {
		return err
	}
	page := wire.APIs{APIs: []wire.API{}}
	err = s.Store.Read(c.ctx(), func(v *store.View) error {
		rows, err := v.APIs(c.ctx(), accounts, after, limit+1) // one more, to find out whether there is another page
		for i := range rows {
			page.APIs = append(page.APIs, toAPI(&rows[i]))
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(page.APIs) > limit {
		page.APIs = page.APIs[:limit]
		page.NextCursor = page.APIs[limit-1].API.String()
	}
	return c.json(http.StatusOK, page)
}

func (s *Server) getAPI(c *call) error {
	var row *store.API
	err := s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		row, err = v.API(c.ctx(), c.ref())
		return err
	})
	if err != nil {
		return absent(err, "API "+c.ref().String())
	}
	return c.json(http.StatusOK, toAPI(row))
}

func (s *Server) getDocument(c *call) error {
	var row *store.API
	var doc *store.Body
	err := s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		if row, err = v.API(c.ctx(), c.ref()); err != nil {
			return err
		}
		doc, err = v.Document(c.ctx(), c.ref())
		return err
	})
	if err != nil {
		return absent(err, "API "+c.ref().String())
	}
	if c.unmodified(row.SHA256) {
		return nil
	}
	// A browser must not show a document of a user as a page of the hub.
	c.w.Header().Set("Content-Disposition", "attachment")
	return c.stream(doc)
}
