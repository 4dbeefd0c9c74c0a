package failure

import (
	"crypto/tls"
	"errors"
	"strings"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// ofHub makes a failure from an error of hubclient, and from any other error one
// with the code internal.
func ofHub(err error) Failure {
	e, ok := errors.AsType[*hubclient.Error](err)
	if !ok {
		return Failure{Code: wire.CodeInternal, Reason: err}
	}
	f := Failure{Code: e.Code, Reason: err, Hint: e.Hint, Status: e.Status, RequestID: e.RequestID, Current: e.Current}
	if len(e.Errors) > 1 { // one is in the reason
		f.Fields = e.Errors
	} else if len(e.Errors) == 1 {
		f.Reason = named(err, e.Errors[0].Pointer)
	}
	if f.Hint == "" {
		f.Hint = hint(e)
	}
	return f
}

// named returns err with the name of a member of the request, which is that of a flag, in
// the place of the pointer to it.
func named(err error, pointer string) error {
	rest, ok := strings.CutPrefix(err.Error(), pointer+": ")
	name, isPointer := strings.CutPrefix(pointer, "/")
	if !ok || !isPointer || strings.Contains(name, "/") {
		return err
	}
	return &reworded{err, name + ": " + rest}
}

// reworded is an error in other words.
type reworded struct {
	error
	text string
}

func (e *reworded) Error() string { return e.text }

func (e *reworded) Unwrap() error { return e.error }

// hint says which flag or variable helps against a failure to reach the hub.
func hint(e *hubclient.Error) string {
	switch e.Code {
	case hubclient.CodeInsecureOrigin:
		return "use https, or set TOOL_ALLOW_HTTP=1 where the network between is yours"
	case hubclient.CodeNotAHub:
		return "check the address given by --origin or TOOL_API_ORIGIN"
	case hubclient.CodeRedirected:
		return "if that is the hub's address, give its origin with --origin"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](e); ok {
		return "TOOL_CA_FILE names a file of certificates to trust besides the system's"
	}
	return ""
}
