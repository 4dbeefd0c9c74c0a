package hubserver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

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
	data, err := c.readDescription()
	if err != nil {
		return err
	}
	q := c.r.URL.Query()
	account, slug := c.accountOf(wire.InQuery), q.Get("slug")
	if err := checkSlug("", slug); err != nil {
		return err
	}
	strict, err := isStrict(q)
	if err != nil {
		return err
	}
	return c.createOnce(data, requestDecides, func(commit func(creation) error) error {
		return c.register(account, slug, received{data, q.Get("name"), strict}, commit)
	})
}

// readDescription reads a description from the body.
func (c *call) readDescription() ([]byte, error) {
	if err := c.needMediaType(descriptionTypes...); err != nil {
		return nil, err
	}
	if c.r.Header.Get("Content-Encoding") != "" {
		return nil, unsupported("a description must not have a Content-Encoding")
	}
	return c.readAll(uploading, "the description", c.s.Limits.DescriptionBytes)
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
		account = c.who.account
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
		data, err := c.fetchDescription(account, req.URL)
		if err != nil {
			return err
		}
		return c.register(account, req.Slug, received{data, fileOf(req.URL), req.Strict}, commit)
	})
}

// fetchDescription reads a description from an address on behalf of account.
func (c *call) fetchDescription(account, address string) ([]byte, error) {
	data, err := c.s.Fetch.Get(c.ctx(), account, address, func(r io.Reader) ([]byte, error) {
		return c.readInto(uploading, r, 0, c.s.Limits.DescriptionBytes)
	})
	if err != nil {
		return nil, fetchProblem(err)
	}
	return data, nil
}

// fileOf returns the name of the file at an address, "" for none.
func fileOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return path.Base(u.Path)
}

// isStrict reports whether the parameter strict is set.
func isStrict(q url.Values) (bool, error) {
	switch strict := q.Get("strict"); strict {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, invalidBody("", "strict is true or false, not %q", strict)
	}
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

// received is a description as it was received.
type received struct {
	data   []byte
	name   string // of its file, "" if that is not known
	strict bool   // errors in it are rejected
}

// maxTitle bounds the title and the version of a description, in bytes.
const maxTitle = 1000

// described returns what a description says of its API, the document to store, and what is
// wrong with it. A description without a title gets the name of its file.
func (c *call) described(u received) (*store.API, *store.Document, []wire.Finding, error) {
	found, err := c.parse(u.data)
	if err == nil && u.strict {
		err = found.Strict()
	}
	var invalid *description.Invalid
	if errors.As(err, &invalid) {
		p := problemf(http.StatusUnprocessableEntity, wire.CodeInvalidDescription, "%v", invalid)
		p.Errors = invalid.Reasons
		return nil, nil, nil, p
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if found.Title == "" {
		found.Title = titleOf(u.name)
	}
	if len(found.Title) > maxTitle || len(found.Version) > maxTitle {
		return nil, nil, nil, problemf(http.StatusUnprocessableEntity, wire.CodeInvalidDescription,
			"the API description's title or version is longer than %d bytes", maxTitle)
	}
	document := &store.Document{MediaType: found.MediaType, Text: u.data}
	if len(found.Findings) > 0 {
		if document.Findings, err = json.Marshal(found.Findings); err != nil {
			return nil, nil, nil, err
		}
	}
	sum := sha256.Sum256(u.data)
	row := &store.API{Title: found.Title, Version: found.Version, Format: found.Format, SHA256: hex.EncodeToString(sum[:])}
	return row, document, found.Findings, nil
}

// titleOf returns a title for the description in a file.
func titleOf(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.TrimSuffix(name, path.Ext(name))
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(name, ""))
	if name = strings.Trim(name[:min(len(name), maxTitle)], " ./"); name == "" {
		return "API"
	}
	return strings.ToValidUTF8(name, "")
}

// register stores a description as a new API and responds with it.
func (c *call) register(account, slug string, u received, commit func(creation) error) error {
	described, document, findings, err := c.described(u)
	if err != nil {
		return err
	}
	free := slug == ""
	if free {
		slug = description.Slug(described.Title)
	}
	err = commit(func(tx *store.Tx) (reply, error) {
		row := *described
		row.Account, row.Slug, row.CreatedBy = account, slug, c.who.user
		if err := tx.CreateAPI(c.ctx(), &row, document, free); err != nil {
			return reply{}, err
		}
		api := refOf(row.Account, row.Slug)
		return reply{
			status: http.StatusCreated,
			header: map[string]string{"Location": "/v1/apis/" + api.Path()},
			body:   withFindings(&row, findings),
		}, c.audit(c.ctx(), tx, account, "api.register", api.String(), row.SHA256)
	})
	if errors.Is(err, store.ErrExists) {
		if err := c.repairDocument(refOf(account, slug), document); err != nil {
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
	var stored []byte
	err := c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		if row, err = v.API(c.ctx(), c.ref()); err == nil {
			stored, err = v.Findings(c.ctx(), c.ref())
		}
		return err
	})
	if err != nil {
		return absent(err, "API "+c.ref().String())
	}
	var findings []wire.Finding
	if stored != nil {
		if err := json.Unmarshal(stored, &findings); err != nil {
			return fmt.Errorf("read the findings of %s: %w", c.ref(), err)
		}
	}
	return c.json(http.StatusOK, withFindings(row, findings))
}
