package request

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// Done says what a write did. Account, Action, Object and Detail are the row of the audit log;
// without an Account nothing was changed, and there is no row.
type Done struct {
	Account string // whose thing it is
	Action  string // such as config.write
	Object  string // such as @acme/web
	Detail  string // such as a revision
	Actor   string // of a call without a caller
	Token   string // likewise: what logs may show of it
	Also    []Done // more rows

	ResourceID int64  // that was created: a saved answer ends with it
	Reply      *Reply // what Write responds with; nil: the handler responds
}

// Reply is a response with JSON.
type Reply struct {
	Status   int
	Location string // "": no such header
	Body     any
}

// Write runs f in a transaction of the store. All that a call writes for its caller goes through
// here: the request may have begun long ago, so the transaction checks the caller's rights again, and
// adds the rows of the audit log. If the endpoint is Keyed and the request has an Idempotency-Key, the
// first answer is saved, and repeated for a day; what is refused is tried again. f may run more than
// once: it sets nothing but fresh values.
func (c *Call) Write(f func(tx *store.Tx) (Done, error)) error {
	key, err := c.newAnswer()
	if err != nil {
		return err
	}
	var done Done
	var first *store.Answer
	err = c.Hub.Store.Write(c.Ctx(), func(tx *store.Tx) (err error) {
		done, first = Done{}, nil
		if err := c.permitAgain(tx.View); err != nil {
			return err
		}
		if key != nil {
			if first, err = tx.ClaimAnswer(*key); first != nil || err != nil {
				return err
			}
		}
		if done, err = f(tx); err != nil {
			return err
		}
		if err := c.audit(tx, done); err != nil {
			return err
		}
		if key != nil && done.Reply != nil {
			return saveAnswer(tx, *key, done)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case first != nil:
		return c.repeat(first, key.BodyHash)
	case done.Reply != nil:
		if done.Reply.Location != "" {
			c.W.Header().Set("Location", done.Reply.Location)
		}
		return c.JSON(done.Reply.Status, done.Reply.Body)
	}
	return nil
}

// Wrote tells those who watch the project that the path names that it was changed.
func (c *Call) Wrote() { c.Hub.Wrote(c.Resource.ID) }

// audit adds the rows of the audit log about what was done.
func (c *Call) audit(tx *store.Tx, done Done) error {
	if done.Account != "" {
		row := store.AuditRow{
			Account: done.Account, Actor: done.Actor, Token: done.Token,
			Action: done.Action, Object: done.Object, Detail: done.Detail, RequestID: c.ID, Address: c.Address(),
		}
		if done.Actor == "" {
			row.Actor, row.Token = c.Access.Name(), c.shown()
		}
		if err := tx.Audit(row); err != nil {
			return err
		}
	}
	for _, also := range done.Also {
		if err := c.audit(tx, also); err != nil {
			return err
		}
	}
	return nil
}

const (
	idempotencyKey = "Idempotency-Key"
	maxKey         = 255 // bytes
)

// newAnswer returns the answer that is to be saved for the call, nil if it has no Idempotency-Key or
// its endpoint takes none. The body has been read.
func (c *Call) newAnswer() (*store.Answer, error) {
	h := c.W.body.hash
	if h == nil {
		return nil, nil
	}
	key := c.R.Header.Get(idempotencyKey)
	if len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, InvalidBody("", "the Idempotency-Key must be 1 to %d printable ASCII characters", maxKey)
	}
	caller := "user:" + strconv.FormatInt(c.Access.Caller.AccountID, 10)
	if c.Access.IsBot() {
		caller = "bot:" + strconv.FormatInt(c.Access.BotID, 10)
	}
	return &store.Answer{
		Caller: caller, Route: c.R.Method + " " + c.R.URL.Path, Key: key, BodyHash: hex.EncodeToString(h.Sum(nil)),
	}, nil
}

// Repeated responds with the first answer to the call's Idempotency-Key, if there is one. A handler
// asks it after it has read the body and checked the rights, and before what takes long or what a
// first one may have changed.
func (c *Call) Repeated() (bool, error) {
	key, err := c.newAnswer()
	if key == nil || err != nil {
		return false, err
	}
	first, err := c.View().FirstAnswer(*key)
	if first == nil || err != nil {
		return false, err
	}
	return true, c.repeat(first, key.BodyHash)
}

// repeat responds with the first answer again.
func (c *Call) repeat(first *store.Answer, bodyHash string) error {
	if first.BodyHash != bodyHash {
		return Problemf(http.StatusUnprocessableEntity, wire.CodeIdempotencyMismatch,
			"this Idempotency-Key came with another body before").WithHint("give each new request a new key")
	}
	if first.Location != "" {
		c.W.Header().Set("Location", first.Location)
	}
	return c.Bytes(first.Status, "application/json", first.Body)
}

// saveAnswer saves what is responded, in the transaction of what was done.
func saveAnswer(tx *store.Tx, a store.Answer, done Done) (err error) {
	a.Status, a.Location, a.ResourceID = done.Reply.Status, done.Reply.Location, done.ResourceID
	if a.Body, err = wire.Encode(done.Reply.Body); err != nil {
		return err
	}
	return tx.SaveAnswer(a)
}

// Limits of what an author may say in the query.
const (
	maxMessage = 1000 // characters
	maxPush    = 64   // bytes
)

// Author says who writes, through what, and why: ?message=, and ?push=, which joins the writes of one
// push. What a browser writes comes from the page, unless it restores.
func (c *Call) Author(via string) (store.Author, error) {
	q, err := c.Query()
	if err != nil {
		return store.Author{}, err
	}
	if c.Access.Session != 0 && via != string(wire.ViaRestore) {
		via = string(wire.ViaPage)
	}
	by := store.Author{
		User: c.Access.Name(), Token: c.Access.TokenName, Via: via,
		Request: c.ID, Push: q.Get("push"), Message: q.Get("message"),
	}
	switch {
	case utf8.RuneCountInString(by.Message) > maxMessage:
		return by, InvalidBody("", "message has at most %d characters", maxMessage)
	case len(by.Push) > maxPush:
		return by, InvalidBody("", "push has at most %d bytes", maxPush)
	}
	return by, nil
}
