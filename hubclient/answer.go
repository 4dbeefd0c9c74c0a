package hubclient

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/wire"
)

// Limits on the bytes that are read of a response.
const (
	maxAnswer = 16 << 20
	maxBundle = 256 << 20
)

// limit returns how many bytes of the response are read at most.
func (r *request) limit() int64 {
	if r.endpoint.Op == wire.OpGetBundle {
		return maxBundle
	}
	return maxAnswer
}

// checkStatus refuses a status that no call expects, before the body is read.
func (c *Client) checkStatus(req *http.Request, resp *http.Response) error {
	switch status := resp.StatusCode; {
	case status == http.StatusOK, status == http.StatusCreated, status >= http.StatusBadRequest:
		return nil
	case status == http.StatusNotModified && req.Header.Get("If-None-Match") != "":
		return nil
	default:
		return c.notAHub(status, "it answered %s", statusText(status))
	}
}

// statusText returns a status with its standard text: the one in the response could be anything.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return strconv.Itoa(status)
}

// read decodes a response to r into v, which is a *[]byte where the endpoint returns
// other types than JSON.
func (c *Client) read(resp *http.Response, body []byte, v any, r request) (*answer, error) {
	version := line(resp.Header.Get("Hub-Version"))
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		return nil, c.refusal(resp, body, version)
	case version == "":
		return nil, c.notAHub(resp.StatusCode, "its response has no Hub-Version")
	}
	a := &answer{status: resp.StatusCode, size: len(body)}
	if resp.StatusCode == http.StatusNotModified {
		return a, nil
	}
	if raw, ok := v.(*[]byte); ok {
		if !slices.Contains(r.endpoint.Returns, mediaType(resp)) {
			return nil, c.notAHub(resp.StatusCode, "its response is not %s", r.endpoint.Returns[0])
		}
		*raw = body
		return a, nil
	}
	if mediaType(resp) != "application/json" {
		return nil, c.notAHub(resp.StatusCode, "its response is not JSON")
	}
	if err := decode(body, v); err != nil {
		return nil, c.notAHub(resp.StatusCode, "malformed response: %v", err)
	}
	if wrong := check(v, r.about); wrong != "" {
		return nil, c.notAHub(resp.StatusCode, "%s", wrong)
	}
	return a, nil
}

// Limits on the lists of a response: {} takes 3 bytes there, and hundreds in memory.
const (
	maxElements = 100_000  // of all lists; a set of base files has 20,000 at most
	manyBytes   = 64 << 10 // a shorter response has too few to be counted
)

// decode decodes the body of a response into v.
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

// refusal returns the error of a response that is not a success.
func (c *Client) refusal(resp *http.Response, body []byte, version string) *Error {
	e := c.problem(resp, body, version)
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

func (c *Client) problem(resp *http.Response, body []byte, version string) *Error {
	var p wire.Problem
	ok := mediaType(resp) == "application/problem+json" && version != "" &&
		decode(body, &p) == nil && codePattern().MatchString(string(p.Code))
	if !ok {
		return c.withoutProblem(resp)
	}
	e := &Error{
		Code: p.Code, Detail: line(p.Detail), Hint: line(p.Hint), RequestID: line(p.RequestID),
		Errors: fieldErrors(p.Errors), Current: p.Current, RestorableUntil: p.RestorableUntil,
	}
	if e.Detail == "" {
		e.Detail = "the hub answered " + statusText(resp.StatusCode)
	}
	if p.Code == wire.CodeUnknownRoute && resp.StatusCode != http.StatusMisdirectedRequest || slices.ContainsFunc(p.Errors, func(f wire.FieldError) bool { return f.Detail == wire.NoSuchMember }) {
		e.Hint = fmt.Sprintf("this program is newer than the hub (version %s): update the hub", version)
	}
	return e
}

// maxFieldErrors bounds how many errors of a body a message has. A hub reports fewer.
const maxFieldErrors = 100

// fieldErrors turns the errors of a body into short lines for a message.
func fieldErrors(all []wire.FieldError) []wire.FieldError {
	short := all[:min(len(all), maxFieldErrors)]
	for i, e := range short {
		short[i].Pointer, short[i].Detail = line(e.Pointer), line(e.Detail)
	}
	return short
}

func mediaType(resp *http.Response) string {
	t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return t
}

// withoutProblem returns the error of a response without a problem document: such as a
// proxy in front of a hub sends while the hub is down, or a page.
func (c *Client) withoutProblem(resp *http.Response) *Error {
	status := resp.StatusCode
	switch status {
	case http.StatusTooManyRequests:
		return &Error{Code: wire.CodeRateLimited, Detail: c.Origin() + " accepts no more requests for now"}
	case http.StatusNotFound:
		if mediaType(resp) == "text/html" && resp.Header.Get("Hub-Version") != "" {
			return &Error{Code: wire.CodeNotFound, Detail: "no public project with this name"}
		}
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
