package hubclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
)

const maxAnswer = 16 << 20

func (c *Client) readBody(ctx context.Context, resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, c.transportError(ctx, true, err)
	}
	if len(body) > maxAnswer {
		return nil, c.notAHub(resp.StatusCode, "its response is larger than %d MiB", maxAnswer>>20)
	}
	return body, nil
}

// statusText returns a status with its standard text: the one in the response could be anything.
func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// decode decodes the body of a successful response to r into v, which is a *[]byte where
// the endpoint returns other types than JSON.
func (c *Client) decode(resp *http.Response, body []byte, v any, r *request) error {
	raw, isRaw := v.(*[]byte)
	switch {
	case resp.StatusCode == http.StatusNotModified:
		return nil
	case isRaw && !slices.Contains(r.endpoint.Returns, mediaType(resp)):
		return c.notAHub(resp.StatusCode, "its response is not %s", r.endpoint.Returns[0])
	case isRaw:
		*raw = body
		return nil
	case mediaType(resp) != "application/json":
		return c.notAHub(resp.StatusCode, "its response is not JSON")
	}
	if err := decode(body, v); err != nil {
		return c.notAHub(resp.StatusCode, "malformed response: %v", err)
	}
	if wrong := check(v, r.about, c.PresentName(r.about)); wrong != "" {
		return c.notAHub(resp.StatusCode, "%s", wrong)
	}
	return nil
}

// Limits on the lists of a response: {} takes 3 bytes there, and hundreds in memory.
const (
	maxElements = 100_000  // of all lists; a set of base files has 20,000 at most
	manyBytes   = 64 << 10 // a shorter response has too few to be counted
)

func decode(body []byte, v any) error {
	switch v.(type) {
	case *wire.Config, *wire.ConfigWritten: // the lists of a config stay text
		return wire.Decode(body, v, json.RejectUnknownMembers(false))
	}
	if len(body) > manyBytes && elements(body) > maxElements {
		return fmt.Errorf("it lists more than %d values", maxElements)
	}
	return wire.Decode(body, v, json.RejectUnknownMembers(false))
}

// elements counts the elements of all lists in a JSON text, up to a few more than
// maxElements. What is wrong with the text is left to the decoding.
func elements(text []byte) (n int) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for n <= maxElements {
		in, _ := dec.StackIndex(dec.StackDepth())
		token, err := dec.ReadToken()
		if err != nil {
			break
		}
		if in == '[' && token.Kind() != ']' {
			n++
		}
	}
	return n
}

func (c *Client) refusal(resp *http.Response, body []byte) *Error {
	e := c.problem(resp, body)
	e.Status, e.After = resp.StatusCode, retryAfter(resp.Header)
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		e.again = true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		e.again, e.lost = true, true
	}
	return e
}

// codePattern is compiled when it is needed first, so that it does not lengthen every start.
var codePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]{1,63}$`) })

// maxFieldErrors bounds how many errors of a body a message has. A hub reports fewer.
const maxFieldErrors = 100

// problem returns the problem in a response, with all texts as short lines for a message.
func (c *Client) problem(resp *http.Response, body []byte) *Error {
	hubVersion := line(resp.Header.Get("Hub-Version"))
	var p wire.Problem
	ok := mediaType(resp) == "application/problem+json" && hubVersion != "" &&
		decode(body, &p) == nil && codePattern().MatchString(string(p.Code))
	if !ok {
		return c.withoutProblem(resp)
	}
	e := &Error{
		Code: p.Code, Detail: line(p.Detail), Hint: line(p.Hint), RequestID: line(p.RequestID),
		Errors: p.Errors[:min(len(p.Errors), maxFieldErrors)], Current: p.Current, RestorableUntil: p.RestorableUntil,
	}
	newer := p.Code == wire.CodeUnknownRoute && resp.StatusCode != http.StatusMisdirectedRequest
	for i, field := range e.Errors {
		newer = newer || field.Detail == wire.NoSuchMember
		e.Errors[i] = wire.FieldError{Pointer: line(field.Pointer), Detail: line(field.Detail)}
	}
	if newer {
		e.Hint = fmt.Sprintf("this program is newer than the hub (version %s): update the hub", hubVersion)
	}
	if e.Detail == "" {
		e.Detail = "the hub answered " + statusText(resp.StatusCode)
	}
	return e
}

func mediaType(resp *http.Response) string {
	t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return t
}

// withoutProblem returns the error of a response such as a proxy sends while the hub is down.
func (c *Client) withoutProblem(resp *http.Response) *Error {
	status := resp.StatusCode
	switch status {
	case http.StatusTooManyRequests:
		return &Error{Code: wire.CodeRateLimited, Detail: c.Origin() + " accepts no more requests for now"}
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &Error{Code: wire.CodeUnavailable, Detail: c.Origin() + " is unavailable: it answered " + statusText(status)}
	}
	return c.notAHub(status, "it answered %s without a reason", statusText(status))
}

// retryAfter returns how long the hub asks to wait. The header has two forms.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	// A number that is out of range counts as the greatest one.
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

func areVersions(all ...string) bool {
	return !slices.ContainsFunc(all, func(v string) bool { return v != "" && v != wire.Latest && !version.Valid(v) })
}

// check returns what is wrong with a response that was decoded into v, "" if nothing is. The path of
// the request names about, whose present name is present. A missing member decodes as zero, and a
// proxy may answer with the response to another request. What becomes a word of a command that is
// printed, or a header, has to be valid.
func check(v any, about, present ref.Ref) string {
	valid, named := true, about
	bot := about.String()
	switch v := v.(type) {
	case *wire.Whoami:
		_, err := ref.Parse(v.Name())
		valid = err == nil || ref.ValidName(v.Name())
	case *wire.Description:
		valid = v.Info.Limits.ConfigBytes > 0
	case *wire.Project:
		valid, named = areVersions(v.StackVersion, v.ResolvedStackVersion, v.UseStackVersion), v.Project
	case *wire.Deleted:
		named = v.Project
	case *wire.Restored:
		named = v.Project
	case *wire.Config:
		valid, named = tree.ValidDigest(v.Revision), v.Project
	case *wire.ConfigWritten:
		valid = tree.ValidDigest(v.Revision) && (v.Replaced == nil || tree.ValidDigest(v.Replaced.Revision)) &&
			areVersions(v.StackVersion, v.UseStackVersion)
		named = v.Project
	case *wire.CheckedSettings:
		valid = v.Findings != nil
	case *wire.ConfigHistory:
		valid = !slices.ContainsFunc(v.Entries, func(e wire.ConfigEntry) bool { return !tree.ValidDigest(e.Revision) })
	case *wire.BaseFiles:
		files, err := tree.New(v.Files)
		valid = err == nil && files.Digest() == v.Tree
	case *wire.BaseFilesWritten:
		named = v.Project
	case *wire.BaseFilesHistory:
		valid = !slices.ContainsFunc(v.Entries, func(e wire.BaseFilesEntry) bool { return !tree.ValidDigest(e.Tree) })
	case *wire.API:
		valid = !v.API.IsZero()
	case *wire.DeletedAPI:
		named = v.API
	case *wire.Stack:
		isInvalid := func(v wire.StackVersion) bool { return !version.Valid(v.Version) }
		valid = len(v.Versions) > 0 && areVersions(v.Latest) && !slices.ContainsFunc(v.Versions, isInvalid)
	case *wire.Published:
		valid = version.Valid(v.Version)
	case *wire.Bot:
		valid = v.BotRefID == bot
	case *wire.DeletedBot:
		valid = v.Bot == bot
	case *wire.BotToken:
		valid = pat.Valid(v.Token) && v.Bot == bot
	case *wire.BotTokens:
		valid = v.Bot == bot
	case *wire.RevokedBotToken:
		valid = v.ID != "" && v.Bot == bot
	case *wire.RateLimit:
		valid = v.Bot.BotID != "" || v.Bot.BotRefID != ""
	case *wire.CreatedToken:
		valid = pat.Valid(v.Token)
	case *wire.RevokedToken:
		valid = v.ID != ""
	case *wire.Link:
		valid = v.URL != ""
	case *wire.Device:
		valid = v.DeviceCode != "" && v.UserCode != "" && v.VerificationURI != ""
	case *wire.DeviceToken:
		valid = pat.Valid(v.Token)
	}
	switch {
	case !valid:
		return "a member of its response is missing or invalid"
	case named != about && named != present:
		return "it describes another project"
	}
	return ""
}
