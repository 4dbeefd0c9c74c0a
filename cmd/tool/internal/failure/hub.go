package failure

import (
	"crypto/tls"
	"errors"

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
	}
	if f.Hint == "" {
		f.Hint = hint(e)
	}
	return f
}

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
