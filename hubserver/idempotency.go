package hubserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/go-json-experiment/json"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// reply is the answer of a POST that creates.
type reply struct {
	status int
	header map[string]string
	body   any
}

// createOnce runs a POST that creates. When the request bears an
// Idempotency-Key, the first answer is stored and given again for a day: a
// success in the transaction of run, which calls save as its last step; a
// refusal on its own, where the request alone decides; a failure of the hub not at all.
func (c *call) createOnce(body []byte, decides deciding, run func(save func(*store.Tx, reply) error) error) error {
	key := c.r.Header.Get("Idempotency-Key")
	var done reply
	if key == "" {
		if err := run(func(_ *store.Tx, r reply) error { done = r; return nil }); err != nil {
			return err
		}
		return c.reply(done)
	}
	answer, err := c.newAnswer(key, body)
	if err != nil {
		return err
	}
	first, err := c.reserve(answer)
	if err != nil {
		return err
	}
	if first != nil {
		return c.repeat(first, answer.BodyHash)
	}
	err = run(func(tx *store.Tx, r reply) error {
		done = r
		if err := fill(answer, r.status, r.header, r.body); err != nil {
			return err
		}
		return tx.SaveAnswer(c.ctx(), answer)
	})
	if err != nil {
		return c.keepRefusal(answer, decides, err)
	}
	return c.reply(done)
}

// deciding is what decides whether a request is refused.
type deciding int

const (
	requestDecides deciding = iota
	othersDecide            // what another server answers, which may be another thing the next time
)

// maxKey bounds the length of an Idempotency-Key, in bytes.
const maxKey = 255

func (c *call) newAnswer(key string, body []byte) (*store.Answer, error) {
	if len(key) > maxKey || !printable(key) {
		return nil, invalidBody("", "the Idempotency-Key is not 1 to %d printable ASCII characters", maxKey)
	}
	sum := sha256.Sum256(append([]byte(c.r.URL.RawQuery+"\n"), body...))
	return &store.Answer{
		Caller: c.who.user, Method: c.r.Method, Path: c.r.URL.Path, Key: key, BodyHash: hex.EncodeToString(sum[:]),
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

func (c *call) reserve(a *store.Answer) (first *store.Answer, err error) {
	err = c.s.Store.Write(c.ctx(), func(tx *store.Tx) (err error) {
		first, err = tx.ReserveAnswer(c.ctx(), a)
		return err
	})
	return first, err
}

// repeat gives the first answer again.
func (c *call) repeat(first *store.Answer, bodyHash string) error {
	switch {
	case first.BodyHash != bodyHash:
		return problemf(http.StatusUnprocessableEntity, wire.CodeIdempotencyMismatch,
			"this Idempotency-Key came with another body before").hint("give each new request a new key")
	case first.Status == 0:
		return problemf(http.StatusConflict, wire.CodeIdempotencyInFlight,
			"the first request with this Idempotency-Key is still running").with("Retry-After", "1")
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

// keepRefusal stores the answer to a request that was refused, and gives the key
// back when the request is not to blame: the hub failed, the caller went away, or
// the same request may succeed later.
func (c *call) keepRefusal(a *store.Answer, decides deciding, err error) error {
	p := toProblem(err)
	p.complete(c.id)
	ctx := context.WithoutCancel(c.ctx())
	after := c.s.Store.Write(ctx, func(tx *store.Tx) error {
		if decides == othersDecide || p.Status >= http.StatusInternalServerError || p.Status == http.StatusTooManyRequests || c.ctx().Err() != nil {
			return tx.DropAnswer(ctx, a)
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
