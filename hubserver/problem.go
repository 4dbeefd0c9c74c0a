package hubserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// problem is a response that is not a success.
type problem struct {
	wire.Problem
	header http.Header
	cause  error // for the log
}

func (p *problem) Error() string { return p.Detail }
func (p *problem) Unwrap() error { return p.cause }

func problemf(status int, code wire.Code, format string, args ...any) *problem {
	return &problem{Problem: wire.Problem{Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}, header: http.Header{}}
}

func (p *problem) hint(format string, args ...any) *problem {
	p.Hint = fmt.Sprintf(format, args...)
	return p
}

func (p *problem) with(header, value string) *problem {
	p.header.Set(header, value)
	return p
}

// because keeps the cause for the log.
func (p *problem) because(err error) *problem {
	p.cause = err
	return p
}

var errInternal = errors.New("internal")

// noToken is the detail of a 401 for a request without a token.
const noToken = "this needs a token"

func unauthorized(code wire.Code, detail string) *problem {
	challenge := `Bearer realm="hub"`
	if detail != noToken {
		challenge += `, error="invalid_token"`
	}
	return problemf(http.StatusUnauthorized, code, "%s", detail).with("WWW-Authenticate", challenge)
}

// crossSite refuses a request that a page of another origin makes a browser send.
func crossSite(err error) *problem {
	return problemf(http.StatusForbidden, wire.CodeCrossSite, "a page of another origin may not send this request").because(err)
}

func notPermitted(user string, has wire.Role, account string, needed wire.Role) *problem {
	verb := map[wire.Role]string{wire.Reader: "read from", wire.Writer: "write to", wire.Admin: "manage"}[needed]
	if !ref.ValidName(account) { // it cannot be on any hub, nor be pasted from a hint
		return problemf(http.StatusForbidden, wire.CodeNotPermitted, "%s may not %s %q", user, verb, account)
	}
	p := problemf(http.StatusForbidden, wire.CodeNotPermitted, "%s may not %s %s", user, verb, account)
	if has != "" {
		p.Detail += fmt.Sprintf("; the role is %s", has)
	}
	return p.hint("if %[1]s is an org, the hub's administrator can allow it: hub member set %[1]s %s --role %s", account, user, needed)
}

func notFound(what string) *problem {
	return problemf(http.StatusNotFound, wire.CodeNotFound, "there is no %s", what)
}

// invalidBody is a 422 about the value at pointer in the request's body.
func invalidBody(pointer, format string, args ...any) *problem {
	detail := fmt.Sprintf(format, args...)
	p := problemf(http.StatusUnprocessableEntity, wire.CodeInvalidBody, "%s", detail)
	if pointer != "" {
		p.Detail = pointer + ": " + detail
	}
	p.Errors = []wire.FieldError{{Pointer: pointer, Detail: detail}}
	return p
}

func tooLarge(what string, limit int64) *problem {
	return problemf(http.StatusRequestEntityTooLarge, wire.CodeTooLarge, "%s is too large: this hub accepts at most %d bytes", what, limit)
}

func revisionChanged(detail string) *problem {
	return problemf(http.StatusPreconditionFailed, wire.CodeRevisionChanged, "%s", detail)
}

func damaged(detail string, cause error) *problem {
	return problemf(http.StatusInternalServerError, wire.CodeDamaged, "%s", detail).because(cause)
}

// toProblem converts any error that a handler can return.
func toProblem(err error) *problem {
	var p *problem
	var config *store.DamagedConfig
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, store.ErrFull):
		return problemf(http.StatusInsufficientStorage, wire.CodeStorageFull, "the hub's disk is full").because(err)
	case errors.Is(err, store.ErrObjectsFull):
		return problemf(http.StatusInsufficientStorage, wire.CodeStorageFull, "the hub's object store is full").because(err)
	case errors.Is(err, store.ErrObjects):
		return problemf(http.StatusServiceUnavailable, wire.CodeUnavailable, "the hub's object store does not answer").
			with("Retry-After", "5").because(err)
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return problemf(http.StatusServiceUnavailable, wire.CodeUnavailable, "the hub's database does not answer").
			with("Retry-After", "1").because(err)
	case errors.Is(err, context.Canceled): // net/http takes the end of what a caller sends for the end of the caller
		return problemf(http.StatusServiceUnavailable, wire.CodeUnavailable, "the connection was closed, or half of it, before the response").
			with("Retry-After", "1").because(err)
	case errors.As(err, &config):
		return damaged("the stored bytes of the config of "+config.Project.String()+" are damaged", err).
			hint(store.ConfigRemedy)
	case errors.Is(err, store.ErrDamaged): // what it names may not be what the caller may see
		return damaged(store.ErrDamaged.Error(), err).
			hint("the hub's administrator finds what is damaged in its log, by the request id, and hub fsck says what replaces it")
	}
	return problemf(http.StatusInternalServerError, wire.CodeInternal, "internal error").
		hint("the hub's administrator finds the cause in its log, by the request id").because(err)
}

// fail responds with the problem of err, and reports whether that was possible: once a
// response has begun it is not.
func (c *call) fail(pattern string, err error) bool {
	p := toProblem(err)
	if p.cause != nil && c.ctx().Err() == nil {
		level := slog.LevelInfo
		if p.Status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
		c.s.Log.Log(c.ctx(), level, "request failed", "request", c.id, "route", pattern, "status", p.Status, "cause", p.cause.Error())
	}
	if c.w.status != 0 {
		return false
	}
	c.writeProblem(p)
	return true
}

// complete sets what every problem has, and makes its texts valid UTF-8, because they
// may quote what a caller sent.
func (p *problem) complete(requestID string) {
	p.RequestID = requestID
	p.Type = "about:blank"
	p.Title = http.StatusText(p.Status)
	p.Detail, p.Hint = fit(p.Detail), fit(p.Hint)
	for i, e := range p.Errors {
		p.Errors[i] = wire.FieldError{Pointer: fit(e.Pointer), Detail: fit(e.Detail)}
	}
}

func fit(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

const problemType = "application/problem+json"

func (c *call) writeProblem(p *problem) {
	p.complete(c.id)
	header := c.w.Header()
	for _, name := range []string{"Content-Encoding", "Content-Disposition", "ETag"} { // of the response that failed
		header.Del(name)
	}
	for name, values := range p.header {
		header[name] = values
	}
	if c.page {
		c.failurePage(p)
		return
	}
	encoded, err := wire.Encode(p.Problem)
	if err != nil {
		c.s.Log.Error("a problem cannot be written", "request", c.id, "error", err)
	}
	_ = c.bytes(p.Status, problemType, encoded) // a caller that has gone needs no response
}

// formatTime writes t for people, in UTC.
func formatTime(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") }
