package request

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// Problem is a response that is not a success: an error of a handler, sent as application/problem+json or
// as a page.
type Problem struct {
	wire.Problem
	header http.Header // of the response
	cause  error       // for the log
}

func (p *Problem) Error() string { return p.Detail }
func (p *Problem) Unwrap() error { return p.cause }

// Problemf returns a problem with a detail, which is the message for people.
func Problemf(status int, code wire.Code, format string, args ...any) *Problem {
	detail := fmt.Sprintf(format, args...)
	return &Problem{Problem: wire.Problem{Status: status, Code: code, Detail: detail}, header: http.Header{}}
}

// WithHint sets what the caller can do about the problem.
func (p *Problem) WithHint(format string, args ...any) *Problem {
	p.Hint = fmt.Sprintf(format, args...)
	return p
}

// WithHeader sets a header of the response.
func (p *Problem) WithHeader(name, value string) *Problem {
	p.header.Set(name, value)
	return p
}

// Because keeps the cause for the log.
func (p *Problem) Because(err error) *Problem {
	p.cause = err
	return p
}

// noToken is the detail of a 401 for a request without a token.
const noToken = "this needs a token"

// Unauthorized is a 401. Its challenge says that the token is invalid, unless none was sent.
func Unauthorized(code wire.Code, detail string) *Problem {
	challenge := `Bearer realm="hub"`
	if detail != noToken {
		challenge += `, error="invalid_token"`
	}
	return Problemf(http.StatusUnauthorized, code, "%s", detail).WithHeader("WWW-Authenticate", challenge)
}

func unknownToken() *Problem {
	return Unauthorized(wire.CodeUnauthorized, "this hub does not know the token")
}

// NotFound is a 404: "there is no" what.
func NotFound(what string) *Problem {
	return Problemf(http.StatusNotFound, wire.CodeNotFound, "there is no %s", what)
}

// InvalidBody is a 422 about the value at pointer in the request's body.
func InvalidBody(pointer, format string, args ...any) *Problem {
	detail := fmt.Sprintf(format, args...)
	p := Problemf(http.StatusUnprocessableEntity, wire.CodeInvalidBody, "%s", detail)
	if pointer != "" {
		p.Detail = pointer + ": " + detail
	}
	p.Errors = []wire.FieldError{{Pointer: pointer, Detail: detail}}
	return p
}

// Forbidden is the 403 of a caller who lacks a right.
func Forbidden(format string, args ...any) *Problem {
	return Problemf(http.StatusForbidden, wire.CodeNotPermitted, format, args...)
}

// RateLimited is a 429: the caller can try again after so many seconds.
func RateLimited(seconds int64, format string, args ...any) *Problem {
	return Problemf(http.StatusTooManyRequests, wire.CodeRateLimited, format, args...).
		WithHeader("Retry-After", strconv.FormatInt(seconds, 10))
}

// Unavailable is a 503: the caller can try again after so many seconds.
func Unavailable(seconds int64, format string, args ...any) *Problem {
	return Problemf(http.StatusServiceUnavailable, wire.CodeUnavailable, format, args...).
		WithHeader("Retry-After", strconv.FormatInt(seconds, 10))
}

// TooLarge is a 413: what is larger than limit bytes.
func TooLarge(what string, limit int64) *Problem {
	return Problemf(http.StatusRequestEntityTooLarge, wire.CodeTooLarge,
		"%s is too large: this hub accepts at most %d bytes", what, limit)
}

// Unsupported is a 415.
func Unsupported(format string, args ...any) *Problem {
	return Problemf(http.StatusUnsupportedMediaType, wire.CodeUnsupportedMediaType, format, args...)
}

// RevisionChanged is the 412 of a condition that is not met.
func RevisionChanged(detail string) *Problem {
	return Problemf(http.StatusPreconditionFailed, wire.CodeRevisionChanged, "%s", detail)
}

// ToProblem converts an error of a handler: problems stay as they are, errors of the store and of the context
// get their status, all others are a 500.
func ToProblem(err error) *Problem {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, store.ErrNotFound): // it was deleted while the request ran
		return NotFound("such project, stack or API any more")
	case errors.Is(err, store.ErrFull):
		return Problemf(http.StatusInsufficientStorage, wire.CodeStorageFull, "the hub's disk is full").Because(err)
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return Unavailable(1, "the hub's database does not answer").Because(err)
	case errors.Is(err, context.Canceled): // also by a caller that closed its sending half only
		return Unavailable(1, "the client closed its side of the connection early").Because(err)
	case errors.Is(err, store.ErrDamaged): // without err's text, which may name what the caller must not know
		return Problemf(http.StatusInternalServerError, wire.CodeDamaged, "%v", store.ErrDamaged).Because(err).WithHint(
			"ask the hub's administrator to look up the request id in the log, and to run hub fsck")
	}
	return Problemf(http.StatusInternalServerError, wire.CodeInternal, "internal error").
		WithHint("ask the hub's administrator to look up the request id in the log").Because(err)
}

// Fit replaces what is not valid UTF-8 in text.
func Fit(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// FormatTime writes t for people, in UTC.
func FormatTime(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") }

// writeProblem responds with p. Its texts become valid UTF-8, because they may quote what a caller sent.
func (c *Call) writeProblem(p *Problem) {
	p.RequestID, p.Type, p.Title = c.ID, "about:blank", http.StatusText(p.Status)
	p.Detail, p.Hint = Fit(p.Detail), Fit(p.Hint)
	for i, e := range p.Errors {
		p.Errors[i].Pointer, p.Errors[i].Detail = Fit(e.Pointer), Fit(e.Detail)
	}
	header := c.W.Header()
	for _, name := range []string{"Content-Encoding", "Content-Disposition", "ETag"} { // of the response that failed
		header.Del(name)
	}
	maps.Copy(header, p.header)
	if c.Page && c.Hub.FailurePage != nil {
		if err := c.Hub.FailurePage(c, p); err != nil {
			c.Hub.Log.Error("a page cannot be written", "request", c.ID, "error", err)
		}
		return
	}
	encoded, err := wire.Encode(p.Problem)
	if err != nil {
		c.Hub.Log.Error("a problem cannot be written", "request", c.ID, "error", err)
	}
	c.Send(p.Status, "application/problem+json", encoded)
}
