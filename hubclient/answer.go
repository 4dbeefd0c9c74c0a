package hubclient

import (
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

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 16 << 20

// checkStatus refuses an answer that no call expects, before its body is read.
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

// statusText names a status in our words: a hub's own could be anything.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return strconv.Itoa(status)
}

// read turns an answer about a project into a value or an error.
func (c *Client) read(resp *http.Response, body []byte, v any, about ref.Ref) (*answer, error) {
	version := line(resp.Header.Get("Hub-Version"))
	switch {
	case len(body) > maxAnswer:
		return nil, c.notAHub(resp.StatusCode, "its answer is larger than %d MiB", maxAnswer>>20)
	case resp.StatusCode >= http.StatusBadRequest:
		return nil, c.refusal(resp, body, version)
	case version == "":
		return nil, c.notAHub(resp.StatusCode, "its answer bears no Hub-Version")
	}
	a := &answer{status: resp.StatusCode, size: len(body)}
	if resp.StatusCode == http.StatusNotModified {
		return a, nil
	}
	if mediaType(resp) != "application/json" {
		return nil, c.notAHub(resp.StatusCode, "its answer is not JSON")
	}
	if err := wire.Decode(body, v, json.RejectUnknownMembers(false)); err != nil {
		return nil, c.notAHub(resp.StatusCode, "its answer cannot be read: %v", err)
	}
	if wrong := check(v, about); wrong != "" {
		return nil, c.notAHub(resp.StatusCode, "%s", wrong)
	}
	return a, nil
}

// refusal reads the answer to a request that did not succeed.
func (c *Client) refusal(resp *http.Response, body []byte, version string) *Error {
	e := c.problem(resp, body, version)
	e.Status, e.After = resp.StatusCode, retryAfter(resp.Header)
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		e.again = true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		e.again, e.lost = true, true
	default:
		e.again = e.Code == wire.CodeIdempotencyInFlight
	}
	return e
}

// codePattern is made when it is needed: it would lengthen every start.
var codePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]{1,63}$`) })

func (c *Client) problem(resp *http.Response, body []byte, version string) *Error {
	var p wire.Problem
	ok := mediaType(resp) == "application/problem+json" && version != "" &&
		wire.Decode(body, &p, json.RejectUnknownMembers(false)) == nil && codePattern().MatchString(string(p.Code))
	if !ok {
		return c.withoutProblem(resp.StatusCode)
	}
	e := &Error{
		Code: p.Code, Detail: line(p.Detail), Hint: line(p.Hint), RequestID: line(p.RequestID),
		Errors: p.Errors, Current: p.Current,
	}
	if e.Detail == "" {
		e.Detail = "the hub answered " + statusText(resp.StatusCode)
	}
	if p.Code == wire.CodeUnknownRoute || slices.ContainsFunc(p.Errors, func(f wire.FieldError) bool { return f.Detail == wire.NoSuchMember }) {
		e.Hint = fmt.Sprintf("this program is newer than the hub, version %s: the older side is to be updated", version)
	}
	return e
}

func mediaType(resp *http.Response) string {
	t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return t
}

// withoutProblem explains a failure that does not explain itself: what stands
// before a hub says so when the hub is away.
func (c *Client) withoutProblem(status int) *Error {
	switch status {
	case http.StatusTooManyRequests:
		return &Error{Code: wire.CodeRateLimited, Detail: c.Origin() + " takes no more requests for now"}
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &Error{Code: wire.CodeUnavailable, Detail: c.Origin() + " is not available: it answered " + statusText(status)}
	}
	return c.notAHub(status, "it answered %s without saying why", statusText(status))
}

// retryAfter reads how long the hub asks to wait, in either form of the header.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	// What is out of range is read as the greatest number in it.
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
