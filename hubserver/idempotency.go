package hubserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// reply is the response to a POST that creates.
type reply struct {
	status int
	header map[string]string
	body   any
}

// creation is the part of a POST that creates which runs in its transaction.
type creation func(*store.Tx) (reply, error)

// createOnce runs a POST that creates: run prepares the creation and passes it to
// commit. When the request has an Idempotency-Key, its first answer is stored and
// repeated for a day: a success in the transaction of the creation, a refusal on its
// own, where the request alone decides, a failure of the hub not at all.
//
// The key is claimed by the creation's transaction, so that of any requests with one
// key, to any hubs on the database, one creates, and a hub that dies leaves no claim.
func (c *call) createOnce(body []byte, decides deciding, run func(commit func(creation) error) error) error {
	key := c.r.Header.Get("Idempotency-Key")
	if key == "" {
		var done reply
		err := run(func(create creation) error {
			return c.transact(c.ctx(), func(tx *store.Tx) (err error) {
				done, err = create(tx)
				return err
			})
		})
		if err != nil {
			return err
		}
		return c.reply(done)
	}
	answer, err := c.newAnswer(key, body)
	if err != nil {
		return err
	}
	first, err := lookUp(c, func(v *store.View) (*store.Answer, error) { return v.FirstAnswer(c.ctx(), answer) })
	if err != nil {
		return err
	}
	if first != nil {
		return c.repeat(first, answer.BodyHash)
	}
	leave, err := c.s.running.enter(answer)
	if err != nil {
		return err
	}
	defer leave()
	return c.createFirst(answer, decides, run)
}

// errAnswered ends the transaction of a request that was answered before.
var errAnswered = errors.New("this request was answered before")

// createFirst is createOnce for a key that has no answer yet, as far as it was seen.
func (c *call) createFirst(answer *store.Answer, decides deciding, run func(commit func(creation) error) error) error {
	var done reply
	var first *store.Answer
	err := run(func(create creation) error {
		return c.transact(c.ctx(), func(tx *store.Tx) (err error) {
			if first, err = tx.ClaimAnswer(c.ctx(), answer); err != nil {
				return err
			}
			if first != nil {
				return errAnswered
			}
			if done, err = create(tx); err != nil {
				return err
			}
			if err := fill(answer, done.status, done.header, done.body); err != nil {
				return err
			}
			return tx.SaveAnswer(c.ctx(), answer)
		})
	})
	switch {
	case errors.Is(err, errAnswered):
		return c.repeat(first, answer.BodyHash)
	case err != nil:
		return c.keepRefusal(answer, decides, err)
	}
	return c.reply(done)
}

// deciding says what decides whether a request is refused.
type deciding int

const (
	requestDecides deciding = iota
	othersDecide            // what another server answers, which may be another thing the next time
)

// running are the requests with an Idempotency-Key that this hub is working on, body
// hashes by request. It spares them the work; the database decides.
type running struct{ requests sync.Map }

type runningKey struct{ caller, method, path, key string }

// enter adds a request, and refuses one with the same key.
func (r *running) enter(a *store.Answer) (leave func(), err error) {
	key := runningKey{a.Caller, a.Method, a.Path, a.Key}
	if hash, found := r.requests.LoadOrStore(key, a.BodyHash); found {
		if hash != a.BodyHash {
			return nil, idempotencyMismatch()
		}
		return nil, problemf(http.StatusConflict, wire.CodeIdempotencyInFlight,
			"the first request with this Idempotency-Key is still running").with("Retry-After", "1")
	}
	return func() { r.requests.Delete(key) }, nil
}

func idempotencyMismatch() error {
	return problemf(http.StatusUnprocessableEntity, wire.CodeIdempotencyMismatch,
		"this Idempotency-Key came with another body before").hint("give each new request a new key")
}

// maxKey bounds the length of an Idempotency-Key, in bytes.
const maxKey = 255

func (c *call) newAnswer(key string, body []byte) (*store.Answer, error) {
	if len(key) > maxKey || !printable(key) {
		return nil, invalidBody("", "the Idempotency-Key must be 1 to %d printable ASCII characters", maxKey)
	}
	hash := sha256.New()
	_, _ = io.WriteString(hash, c.r.URL.RawQuery+"\n")
	hash.Write(body) // without a copy: it may be large
	return &store.Answer{
		Caller: c.who.user, Method: c.r.Method, Path: c.r.URL.Path, Key: key, BodyHash: hex.EncodeToString(hash.Sum(nil)),
	}, nil
}

// printable reports whether s is of visible ASCII characters alone.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// repeat responds with the first answer again.
func (c *call) repeat(first *store.Answer, bodyHash string) error {
	if first.BodyHash != bodyHash {
		return idempotencyMismatch()
	}
	var header map[string]string
	if err := json.Unmarshal(first.Header, &header); err != nil {
		return err
	}
	for name, value := range header {
		c.w.Header().Set(name, value)
	}
	return c.bytes(first.Status, header["Content-Type"], first.Body)
}

// keepRefusal stores the answer to a request that was refused, unless the request is
// not to blame: the hub failed, the caller went away or lost its rights, or the same
// request may succeed a moment later.
func (c *call) keepRefusal(a *store.Answer, decides deciding, err error) error {
	p := toProblem(err)
	switch {
	case decides == othersDecide, p.Status >= http.StatusInternalServerError, p.Status == http.StatusTooManyRequests,
		p.Status == http.StatusUnauthorized, p.Status == http.StatusForbidden, c.ctx().Err() != nil:
		return err
	}
	p.complete(c.id)
	ctx := context.WithoutCancel(c.ctx())
	after := c.transact(ctx, func(tx *store.Tx) error {
		if first, err := tx.ClaimAnswer(ctx, a); err != nil || first != nil {
			return err
		}
		if err := fill(a, p.Status, map[string]string{"Content-Type": problemType}, p.Problem); err != nil {
			return err
		}
		return tx.SaveAnswer(ctx, a)
	})
	if after != nil {
		c.s.Log.Warn("the answer to an idempotent request was not stored", "request", c.id, "error", after)
	}
	return err
}

func fill(a *store.Answer, status int, header map[string]string, body any) (err error) {
	all := map[string]string{"Content-Type": "application/json"}
	for name, value := range header {
		all[name] = value
	}
	if a.Header, err = wire.Encode(all); err != nil {
		return err
	}
	a.Status = status
	a.Body, err = wire.Encode(body)
	return err
}

func (c *call) reply(r reply) error {
	for name, value := range r.header {
		c.w.Header().Set(name, value)
	}
	return c.json(r.status, r.body)
}
