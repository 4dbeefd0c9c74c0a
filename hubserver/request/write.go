package request

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// Done says what a write did. Account, Action, Object and Detail are the row of the audit log; without
// an Account there is no row: nothing was changed, or nothing that is audited.
type Done struct {
	Account string // the account that owns the object
	Action  string // such as config.write
	Object  string // such as @acme/web
	Detail  string // such as a revision
	Actor   string // who did it; "": the caller
	Token   string // with an Actor: what logs may show of the token
	Also    []Done // more rows

	ResourceID int64  // of the created resource: once it is deleted, the saved answer is not repeated
	Reply      *Reply // what Write responds with; nil: the handler responds
}

// Did returns the Done of an action on what the path names.
func (c *Call) Did(action, detail string) Done {
	return Done{Account: c.Ref().Account(), Action: action, Object: c.Ref().String(), Detail: detail}
}

// With returns d with a Reply.
func (d Done) With(status int, body any) Done {
	d.Reply = &Reply{Status: status, Body: body}
	return d
}

// Reply is a response with the JSON of Body.
type Reply struct {
	Status   int
	Location string // "": no such header
	Body     any
}

// Write runs f in a transaction of the store, and responds with the Reply of what f returns. All that a
// handler writes for the caller goes through here. The transaction first checks the caller's rights again,
// because the request may have begun long ago, and last adds the rows of the audit log. If the endpoint
// is Keyed and the request has an Idempotency-Key, the first answer is saved, and repeated for a day; an
// error is not saved. f may run more than once, so it must reset whatever it sets outside of itself.
func (c *Call) Write(f func(tx *store.Tx) (Done, error)) error {
	claim, err := c.newAnswer()
	if err != nil {
		return err
	}
	var done Done
	var first *store.Answer
	err = c.Hub.Store.Write(c.Ctx(), func(tx *store.Tx) (err error) {
		done, first = Done{}, nil // reset, because this may run again
		if err := c.checkGrants(tx); err != nil {
			return err
		}
		if claim != nil {
			if first, err = tx.ClaimAnswer(*claim); first != nil || err != nil {
				return err
			}
		}
		if done, err = f(tx); err != nil {
			return err
		}
		if err := c.audit(tx, done); err != nil {
			return err
		}
		if claim != nil && done.Reply != nil {
			return saveAnswer(tx, *claim, done)
		}
		return nil
	})
	if err == nil && done.Account != "" {
		c.Hub.Wrote(c.Resource.ID)
	}
	switch {
	case err != nil:
		return err
	case first != nil:
		return c.repeat(first, claim.BodyHash)
	case done.Reply != nil:
		if done.Reply.Location != "" {
			c.W.Header().Set("Location", done.Reply.Location)
		}
		return c.JSON(done.Reply.Status, done.Reply.Body)
	}
	return nil
}

// Rows returns the rows of the audit log, without their fields about the request.
func (d Done) Rows() (rows []store.AuditRow) {
	if d.Account != "" {
		rows = append(rows, store.AuditRow{
			Account: d.Account, Actor: d.Actor, Token: d.Token, Action: d.Action, Object: d.Object, Detail: d.Detail,
		})
	}
	for _, also := range d.Also {
		rows = append(rows, also.Rows()...)
	}
	return rows
}

func (c *Call) audit(tx *store.Tx, done Done) error {
	for _, row := range done.Rows() {
		if row.Actor == "" {
			row.Actor, row.Token = c.Access.Name(), c.shown()
		}
		row.RequestID, row.Address = c.ID, c.Address()
		if err := tx.Audit(row); err != nil {
			return err
		}
	}
	return nil
}

const (
	idempotencyKey = "Idempotency-Key"
	maxKey         = 255 // bytes
)

// newAnswer returns the row for the answer to the call, still without the answer; nil if the request has no
// Idempotency-Key or its endpoint ignores it. The body must have been read, because its hash is in the row.
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

// Repeated responds with the first answer to the call's Idempotency-Key, and reports whether there is one.
// A handler calls it once it has read the body and checked the rights, before what is slow, and before
// checks whose result the first request may have changed.
func (c *Call) Repeated() (bool, error) {
	claim, err := c.newAnswer()
	if claim == nil || err != nil {
		return false, err
	}
	first, err := c.View().FirstAnswer(*claim)
	if first == nil || err != nil {
		return false, err
	}
	return true, c.repeat(first, claim.BodyHash)
}

// repeat responds with the first answer again, or with a 422 if the two requests have different bodies.
func (c *Call) repeat(first *store.Answer, bodyHash string) error {
	if first.BodyHash != bodyHash {
		return Problemf(http.StatusUnprocessableEntity, wire.CodeIdempotencyMismatch,
			"this Idempotency-Key was used with another body").WithHint("give each new request a new key")
	}
	if first.Location != "" {
		c.W.Header().Set("Location", first.Location)
	}
	return c.Bytes(first.Status, "application/json", first.Body)
}

// saveAnswer saves the Reply of done, in the same transaction as what was done.
func saveAnswer(tx *store.Tx, a store.Answer, done Done) (err error) {
	a.Status, a.Location, a.ResourceID = done.Reply.Status, done.Reply.Location, done.ResourceID
	if a.Body, err = wire.Encode(done.Reply.Body); err != nil {
		return err
	}
	return tx.SaveAnswer(a)
}

// Limits of the query parameters of Author.
const (
	maxMessage = 1000 // characters
	maxPush    = 64   // bytes
)

// Author returns who writes, through what (via), and why: ?message=, one line, and ?push=, an ID that all writes of
// one push have. via is one of [wire.Via]; for a session it becomes page, unless it is a restore. It fails with a
// 422 if a parameter is too long or the message is not one line.
func (c *Call) Author(via string) (store.Author, error) {
	q := c.R.URL.Query()
	if c.Access.Session != 0 && via != string(wire.ViaRestore) {
		via = string(wire.ViaPage)
	}
	by := store.Author{
		User: c.Access.Name(), Token: c.Access.TokenName, Via: via,
		Request: c.ID, Push: q.Get("push"), Message: q.Get("message"),
	}
	switch {
	case utf8.RuneCountInString(by.Message) > maxMessage:
		return by, Problemf(http.StatusUnprocessableEntity, wire.CodeMessageTooLong,
			"the message has %d characters; the limit is %d", utf8.RuneCountInString(by.Message), maxMessage).
			WithHint("shorten it, and put the details where the message can link to")
	case strings.ContainsFunc(by.Message, breaksLine):
		return by, InvalidBody("", "message must be one line without control characters")
	case len(by.Push) > maxPush:
		return by, InvalidBody("", "push must have at most %d bytes", maxPush)
	}
	return by, nil
}

// breaksLine reports whether r ends a line, or has an effect on the text around it.
func breaksLine(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
