package hubclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Error is every failure of a call: a problem that the hub answered, or one on the way to it.
type Error struct {
	Code            wire.Code
	Status          int    // of the response, 0: there was none
	Detail          string // what failed, as one line without a full stop
	Hint            string // one line
	RequestID       string
	Errors          []wire.FieldError // of a 422
	Current         *wire.Edit        // of revision_changed: the stored config
	RestorableUntil time.Time         // of a project that was deleted: how long it can be restored
	After           time.Duration     // how long the hub asks to wait, 0: not stated
	Cause           error

	again       bool // the same request may succeed in a moment
	unconnected bool // no connection could be opened
	lost        bool // a write, or an attempt before it, may have been applied without our knowing
}

func (e *Error) Error() string { return e.Detail }
func (e *Error) Unwrap() error { return e.Cause }

// Codes of errors that no hub reports.
const (
	CodeTokenMalformed wire.Code = "token_malformed"
	CodeInsecureOrigin wire.Code = "insecure_origin"
	CodeUnreachable    wire.Code = "unreachable"
	CodeTimeout        wire.Code = "timeout"
	CodeRedirected     wire.Code = "redirected"
	CodeNotAHub        wire.Code = "not_a_hub"
	CodeInvalidName    wire.Code = "invalid_name"
)

// HasCode reports whether err is an *[Error] with one of codes.
func HasCode(err error, codes ...wire.Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(codes, e.Code)
}

// unsettled is the end of a context while a write was under way.
type unsettled struct{ error }

func (u *unsettled) Unwrap() error { return u.error }

// Unsettled reports whether err ended a write that the hub may have done all the
// same: its context ended after the request had gone out.
func Unsettled(err error) bool {
	return errors.As(err, new(*unsettled))
}

// ended marks the end of a context as unsettled, where the call may have been applied.
func ended(err error, applied bool) error {
	if applied && errors.Is(err, context.Canceled) {
		return &unsettled{err}
	}
	return err
}

// NotApplied reports whether err, that of a write, leaves no doubt that the hub has not
// done it: the request did not reach the hub, or the hub refused it.
func NotApplied(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return errors.Is(err, context.Canceled) && !Unsettled(err)
	}
	refused := e.Status >= http.StatusBadRequest && e.Status < http.StatusInternalServerError
	return !e.lost && (e.unconnected || refused && e.Status != http.StatusRequestTimeout)
}

// mayHaveWritten reports whether the condition of a write was not met because an earlier
// attempt, whose response was lost, has written what e.Current is.
func (e *Error) mayHaveWritten() bool {
	return e.Code == wire.CodeRevisionChanged && e.lost && e.Current != nil
}

// conclude adds a hint to the error of a call that is not tried again.
func (e *Error) conclude() {
	switch {
	case e.again && e.After > 0:
		e.Hint = "the hub asks to come back after " + time.Now().Add(e.After).Format("15:04:05 on 2 January 2006")
	case e.Hint == "" && e.lost:
		e.Hint = "the request may have been applied all the same"
	}
}

const maxLine = 200

// line turns a text of the hub into one short line for a message.
func line(s string) string {
	if len(s) > maxLine {
		s = s[:maxLine] + "…"
	}
	return strings.Map(func(r rune) rune {
		if tree.Unprintable(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

func (c *Client) insecure() *Error {
	return &Error{
		Code:   CodeInsecureOrigin,
		Detail: fmt.Sprintf("the token is not sent to %s over plain http", c.Origin()),
	}
}

func (c *Client) notAHub(status int, format string, args ...any) *Error {
	return &Error{
		Code:   CodeNotAHub,
		Status: status,
		Detail: fmt.Sprintf("%s is not a hub (%s)", c.Origin(), line(fmt.Sprintf(format, args...))),
	}
}

func (c *Client) redirected(target string) *Error {
	return &Error{
		Code:   CodeRedirected,
		Detail: fmt.Sprintf("%s redirects to %s, which is not followed", c.Origin(), line(target)),
	}
}

// ownError is a failure of what the caller gave, such as to read a file, and not of the network.
type ownError struct{ error }

func (e *ownError) Unwrap() error { return e.error }

// transportError explains why no whole answer came. reached: there was a connection to the hub.
func (c *Client) transportError(ctx context.Context, reached bool, err error) error {
	var own *ownError
	var known *Error
	var certificate *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var op *net.OpError
	because := line(inner(err).Error())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &own):
		return own.error
	case errors.As(err, &known):
		return known
	case errors.As(err, &certificate):
		return &Error{Code: CodeUnreachable, Cause: err,
			Detail: fmt.Sprintf("the certificate of %s is not trusted: %s", c.Origin(), because)}
	case errors.As(err, &noTLS):
		return c.notAHub(0, "it does not speak TLS")
	case errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error"): // an alert ended the handshake
		return &Error{Code: CodeUnreachable, Cause: err,
			Detail: fmt.Sprintf("%s refuses the connection: %s", c.Origin(), because)}
	case timedOut(err):
		return &Error{Code: CodeTimeout, Cause: err, lost: reached,
			Detail: fmt.Sprintf("%s did not answer within %v", c.Origin(), c.opts.Timeout)}
	case !reached:
		return &Error{Code: CodeUnreachable, Cause: err, again: brokeOff(err), unconnected: true,
			Detail: fmt.Sprintf("%s cannot be reached: %s", c.Origin(), because)}
	case brokeOff(err):
		return &Error{Code: CodeUnreachable, Cause: err, again: true, lost: true,
			Detail: fmt.Sprintf("the connection to %s broke: %s", c.Origin(), because)}
	}
	return c.notAHub(0, "%s", because)
}

func timedOut(err error) bool {
	var netErr net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout()
}

// brokeOff reports whether a connection did not come about or ended early, and may last next time.
func brokeOff(err error) bool {
	var name *net.DNSError
	switch {
	case errors.As(err, &name) && name.IsNotFound, errors.Is(err, net.ErrClosed): // closed by us, for what had come
		return false
	case errors.As(err, new(*net.OpError)), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	}
	// net/http has no name for the error of a connection that ended before it was used.
	return strings.Contains(err.Error(), "server closed idle connection")
}

// inner returns what is at the bottom of a transport's error, without what repeats
// the address. A proxy's is another address, and a name server's says which name.
func inner(err error) error {
	for {
		switch e := err.(type) {
		case *net.DNSError:
			return e
		case *net.OpError:
			if e.Op == "proxyconnect" {
				return e
			}
		}
		below := errors.Unwrap(err)
		if below == nil {
			return err
		}
		err = below
	}
}
