package api

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"

	"example.com/projecthub/hubclient/description"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// descriptionTypes are the media types of an uploaded description. Its content decides how it is parsed.
var descriptionTypes = []string{
	"application/json", "application/yaml", "application/x-yaml", "text/yaml",
	"application/vnd.oai.openapi", "application/vnd.oai.openapi+json", "application/vnd.oai.openapi+yaml",
	"application/octet-stream", "",
}

// readDescription reads a description from the body: 415 or 413.
func readDescription(c *request.Call) ([]byte, error) {
	if err := c.NeedMediaType(descriptionTypes...); err != nil {
		return nil, err
	}
	if c.R.Header.Get("Content-Encoding") != "" {
		return nil, request.Unsupported("a description must not have a Content-Encoding")
	}
	return c.ReadAll("the description", c.Hub.Limits.DescriptionBytes)
}

// fetchDescription fetches a description from an address on behalf of an account, whose fetches are bounded.
func fetchDescription(c *request.Call, account, address string) ([]byte, error) {
	data, err := c.Hub.Fetch.Get(c.Ctx(), account, address, func(r io.Reader) ([]byte, error) {
		return c.ReadUpTo(r, c.Hub.Limits.DescriptionBytes)
	})
	return data, fetchProblem(err)
}

func fetchProblem(err error) error {
	if own, ok := errors.AsType[*request.Problem](err); ok { // not enough memory
		return own
	}
	if invalid, ok := errors.AsType[*fetch.InvalidURL](err); ok {
		return request.InvalidBody("/url", "%v", invalid)
	}
	if tooBig, ok := errors.AsType[*fetch.TooLarge](err); ok {
		return request.TooLarge("the description", tooBig.Limit)
	}
	if busy, ok := errors.AsType[*fetch.Busy](err); ok {
		return request.RateLimited(1, "%v", busy)
	}
	if refused, ok := errors.AsType[*fetch.Refused](err); ok {
		return request.Problemf(http.StatusUnprocessableEntity, wire.CodeAddressRefused, "%v", refused).
			Because(refused.Unwrap())
	}
	return err
}

// fileOf returns the last part of an address's path, "" if the address is invalid.
func fileOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return path.Base(u.Path)
}

// maxTitle bounds the title and the version of a description, in bytes.
const maxTitle = 1000

// described parses a description, and returns the row of its API, still without a name, and its blobs: the
// document, the targets and, unless the document is JSON, its JSON form. All that the hub ever says about a
// description is computed here, once. Without a title of its own it gets one from name, its file: 422 if it
// is no description.
func described(c *request.Call, data []byte, name string) (a store.API, blobs []store.Blob, err error) {
	held := shareOfBody * int64(len(data))
	found, err := description.Parse(c.Ctx(), data, func(bytes int64) error {
		more := max(bytes-held, 0)
		held += more
		return c.Need(more)
	})
	if invalid, ok := errors.AsType[*description.Invalid](err); ok {
		p := request.Problemf(http.StatusUnprocessableEntity, wire.CodeInvalidDescription, "%v", invalid)
		p.Errors = []wire.FieldError{{Detail: invalid.Placed()}}
		return a, nil, p
	}
	if err != nil {
		return a, nil, err
	}
	found.Title = cmp.Or(found.Title, titleOf(name))
	if len(found.Title) > maxTitle || len(found.Version) > maxTitle {
		return a, nil, request.Problemf(http.StatusUnprocessableEntity, wire.CodeInvalidDescription,
			"the API description's title or version is longer than %d bytes", maxTitle)
	}
	listed, err := wire.Encode(found.Targets())
	if err != nil {
		return a, nil, err
	}
	blobs = []store.Blob{store.NewBlob(data), store.NewBlob(listed)}
	a = store.API{
		Title: found.Title, Version: found.Version, Format: found.Format, MediaType: found.MediaType,
		Document: blobs[0].SHA256, JSON: blobs[0].SHA256, Targets: blobs[1].SHA256,
	}
	if found.MediaType != "application/json" {
		// The JSON form can be six times as long, and hardly ever is.
		if err := c.NeedAtMost(found.JSONBytes); err != nil {
			return a, nil, err
		}
		text := found.JSON()
		if len(text) > description.MaxJSON {
			return a, nil, request.Problemf(http.StatusUnprocessableEntity, wire.CodeInvalidDescription,
				"the API description is larger than %d MiB as JSON", description.MaxJSON>>20)
		}
		blobs = append(blobs, store.NewBlob(text))
		a.JSON = blobs[2].SHA256
	}
	return a, blobs, nil
}

// shareOfBody is how much memory for each byte of a description is still held from reading it, in bytes.
const shareOfBody = 4

// titleOf returns a title for a description in a file of that name.
func titleOf(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.TrimSuffix(name, path.Ext(name))
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(name, ""))
	name = strings.Trim(name[:min(len(name), maxTitle)], " ./")
	return cmp.Or(strings.ToValidUTF8(name, ""), "API")
}
