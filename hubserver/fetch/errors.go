package fetch

import "fmt"

// InvalidURL says why an address cannot be fetched by any hub.
type InvalidURL struct{ Why string }

func (e *InvalidURL) Error() string { return "the url cannot be fetched: " + e.Why }

// TooLarge says that a document has more than Limit bytes.
type TooLarge struct{ Limit int64 }

func (e *TooLarge) Error() string {
	return fmt.Sprintf("the document is larger than %d bytes", e.Limit)
}

// Busy says that as much is fetched for an account as may be at once.
type Busy struct{ Account string }

func (e *Busy) Error() string {
	return fmt.Sprintf("%d fetches of account %s are under way already", maxInFlight, e.Account)
}

// Refused says that a document cannot be fetched, in the same words for all causes: others would tell a
// stranger what answers in the hub's network. The cause, which [errors.Unwrap] returns, is for the log.
type Refused struct{ cause error }

func (e *Refused) Error() string {
	return fmt.Sprintf("nothing can be fetched from this address: it has to be public, on port 80 or 443, and to answer "+
		"with status 200, uncompressed, within %v and after at most %d redirects", timeout, maxRedirects)
}

func (e *Refused) Unwrap() error { return e.cause }
