package fetch

import "fmt"

// InvalidURL says what the address alone shows: that it cannot be fetched by anyone.
type InvalidURL struct{ Why string }

func (e *InvalidURL) Error() string { return "the url cannot be fetched: " + e.Why }

// TooLarge says that there is a document, but that it has more than Limit bytes.
type TooLarge struct{ Limit int64 }

func (e *TooLarge) Error() string {
	return fmt.Sprintf("the document is larger than %d bytes", e.Limit)
}

// Busy says that an account has as much in flight as it may have: a moment later will do.
type Busy struct{ Account string }

func (e *Busy) Error() string {
	return fmt.Sprintf("%d fetches of account %s are under way already", maxInFlight, e.Account)
}

// Refused says that there is no document, in the same words for everything that
// can be the cause: were there others, they would tell a stranger what answers
// behind the hub. The cause, which [errors.Unwrap] returns, is for the hub's log only.
type Refused struct{ cause error }

func (e *Refused) Error() string {
	return fmt.Sprintf("nothing can be fetched from this address: it has to be public, on port 80 or 443, and to answer "+
		"with status 200, uncompressed, within %v and after at most %d redirects", timeout, maxRedirects)
}

func (e *Refused) Unwrap() error { return e.cause }
