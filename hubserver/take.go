package hubserver

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"example.com/projecthub/store"
)

// take waits for the request's turn among those of one kind of work, and
// reserves memory for it until it is answered. A later call for the same work
// changes how much that is.
func (c *call) take(w work, bytes int64) error {
	if c.reserved != nil && c.reserved.work == w {
		return c.reserved.resize(c.ctx(), bytes)
	}
	c.reserved.release()
	c.reserved = nil
	l, err := c.s.memory.acquire(c.ctx(), w, c.client(), bytes)
	if err == nil {
		c.reserved = l
	}
	return err
}

// done gives back what the request has reserved.
func (c *call) done() {
	c.reserved.release()
	c.reserved = nil
}

// client names whose limits a request counts towards: the caller's, for a bot those of
// its account, which can have any number of bots, or those of the address of one who is
// not known. One network of IPv6 is one address.
func (c *call) client() string {
	if c.who != nil {
		return c.who.account
	}
	return addressMark + network(c.address())
}

// addressMark is the first character of what [call.client] returns for an address, and of
// no name of an account.
const addressMark = " "

func isAddress(client string) bool { return strings.HasPrefix(client, addressMark) }

// part is a part of the memory of an upload.
type part int

const (
	streamPart   part = iota // windows and buffers of decompression
	manifestPart             // the files that are named
	contentPart              // of contents that are being read
	packPart                 // what is about to be stored
	setPart                  // the set that is replaced, and the one that a delta makes of it
	parts
)

// holdStep is how much memory an upload reserves at a time, in bytes.
const holdStep = 128 << 10

// takePart says how much memory one part of an upload takes now, and reserves it.
func (c *call) takePart(p part, bytes int64) error {
	c.parts[p] = bytes
	var all int64
	for _, n := range c.parts {
		all += n
	}
	return c.take(uploading, (all+holdStep-1)/holdStep*holdStep)
}

// jsonMemory bounds the memory that reading a JSON text into a tree takes. A
// value costs more than its text, and all but the first come after a mark.
func jsonMemory(data []byte) int64 {
	marks := bytes.Count(data, []byte{','}) + bytes.Count(data, []byte{':'}) + bytes.Count(data, []byte{'['}) + bytes.Count(data, []byte{'{'})
	return 8*int64(len(data)) + 160*int64(marks)
}

// firstRead is how much memory is reserved for a body before it comes, in bytes.
const firstRead = 16 << 10

// takeAtMost is take for an estimate, which may be above all that there is.
func (c *call) takeAtMost(w work, bytes int64) error {
	return c.take(w, min(bytes, c.s.memory.queues[w].most))
}

// readPieces reads the whole body in pieces of the size in which they are stored,
// and reserves memory as they come; 413 beyond limit.
func (c *call) readPieces(what string, limit int64) ([][]byte, error) {
	if c.r.ContentLength > limit {
		return nil, tooLarge(what, limit)
	}
	var pieces [][]byte
	for all := int64(0); ; {
		if err := c.takePart(packPart, all+2*store.PieceSize); err != nil { // the last one is copied once more into the database
			return nil, err
		}
		piece := make([]byte, store.PieceSize)
		n, err := io.ReadFull(c.r.Body, piece)
		if all += int64(n); all > limit {
			return nil, tooLarge(what, limit)
		}
		if n > 0 {
			pieces = append(pieces, piece[:n])
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && c.r.Body.(*body).failed == nil {
			return pieces, nil
		}
		if err != nil {
			return nil, brokenBody(err)
		}
	}
}

// readInto reads all of r, at most limit bytes and one more, and reserves memory
// as it comes. base is what the request has reserved besides.
func (c *call) readInto(w work, r io.Reader, base, limit int64) ([]byte, error) {
	size := min(firstRead, limit+1)
	if length := c.r.ContentLength; length >= 0 && length < size {
		size = length + 1 // one more to see the end
	}
	if err := c.take(w, base+size); err != nil {
		return nil, err
	}
	data := make([]byte, 0, size)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return data, err
		case int64(len(data)) > limit:
			return data, nil
		case len(data) < cap(data):
			continue
		}
		next := min(2*int64(cap(data)), limit+1)
		if err := c.take(w, base+int64(cap(data))+next); err != nil {
			return nil, err
		}
		grown := make([]byte, len(data), next)
		copy(grown, data)
		data = grown
	}
}
