package hubserver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/description"
	"example.com/projecthub/store"
)

// withDocument responds with what is made of the document of an API, unless the caller has
// that already. It starts over when the document is replaced meanwhile; once a response has
// begun, it breaks off instead.
func (c *call) withDocument(api ref.Ref, respond func(*store.Body) error) error {
	for {
		doc, err := lookUp(c, func(v *store.View) (*store.Body, error) { return v.Document(c.ctx(), api) })
		if err == nil && !c.unmodified(doc.SHA256) {
			err = respond(doc)
		}
		if !errors.Is(err, store.ErrReplaced) {
			return absent(err, "API "+api.String())
		}
		if c.w.status != 0 {
			return problemf(http.StatusConflict, wire.CodeRevisionChanged, "the document was replaced").because(err)
		}
	}
}

func (s *Server) getDocument(c *call) error {
	return c.withDocument(c.ref(), func(doc *store.Body) error {
		// A browser must not show a document of a user as a page of the hub.
		c.w.Header().Set("Content-Disposition", "attachment")
		return c.stream(doc)
	})
}

// getTargets lists what enrichments can refer to in an API.
func (s *Server) getTargets(c *call) error {
	return c.withDocument(c.ref(), func(doc *store.Body) error {
		found, err := c.targets(doc)
		if err != nil {
			return err
		}
		return c.json(http.StatusOK, found)
	})
}

// targets reads a stored document when it is its turn.
func (c *call) targets(doc *store.Body) (*wire.Targets, error) {
	l, err := c.s.memory.acquire(c.ctx(), describing, c.client(), doc.Size)
	if err != nil {
		return nil, err
	}
	defer l.release()
	data, err := c.readDocument(doc)
	if err != nil {
		return nil, err
	}
	return description.Targets(c.ctx(), data, func(bytes int64) error { return l.resize(c.ctx(), doc.Size+bytes) })
}

// readDocument reads a document into memory, for which the caller has reserved it.
func (c *call) readDocument(doc *store.Body) ([]byte, error) {
	data := make([]byte, 0, doc.Size)
	for n := range max(1, doc.Pieces) { // one that has none is damaged
		piece, err := lookUp(c, func(v *store.View) ([]byte, error) { return v.Piece(c.ctx(), doc, n) })
		if err != nil {
			return nil, err
		}
		data = append(data, piece...)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != doc.SHA256 {
		return nil, fmt.Errorf("%w: its SHA-256 is another", store.ErrDamaged)
	}
	return data, nil
}
