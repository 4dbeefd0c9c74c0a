package hubserver

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// maxElement bounds one member or element of a manifest, in bytes. A path is the longest part of it.
const maxElement = 16 << 10

// How much memory a file of a manifest takes besides the text of its path: as an
// entry, in the set that is made of all, and in the maps that check it.
const (
	entryCost = 512
	pathCost  = 4
)

// decodeManifest reads a manifest of at most limit bytes, file by file. It stops
// at the first file beyond the limits, whatever follows.
func (c *call) decodeManifest(r io.Reader, what string, limit int64, m *wire.Manifest) error {
	d := &manifestReader{call: c, r: r, what: what, left: limit, element: maxElement}
	if err := d.reserve(0); err != nil {
		return err
	}
	err := wire.DecodeFrom(d, m, json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder, entries *[]tree.Entry) error {
			return readList(d, dec, entries, func(e tree.Entry) int { return len(e.Path) })
		}),
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder, paths *[]string) error {
			return readList(d, dec, paths, func(path string) int { return len(path) })
		}),
	)))
	if d.failed != nil {
		return d.failed
	}
	return bodyProblem(err)
}

// readList reads an array, which is null or has as many elements as a set has files at most.
func readList[T any](d *manifestReader, dec *jsontext.Decoder, list *[]T, path func(T) int) error {
	if dec.PeekKind() != '[' {
		return errors.ErrUnsupported // the library says what is wrong, and takes null
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	all := []T{}
	for kind := dec.PeekKind(); kind != ']' && kind != 0; kind = dec.PeekKind() {
		if len(all) == d.call.s.Limits.BaseFiles {
			return d.fail(d.call.s.Limits.check(len(all)+1, "", 0, 0))
		}
		d.element = maxElement
		var e T
		if err := json.UnmarshalDecode(dec, &e); err != nil {
			return err
		}
		all = append(all, e)
		if err := d.reserve(entryCost + pathCost*int64(path(e))); err != nil {
			return d.fail(err)
		}
	}
	d.element = maxElement
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	*list = all
	return nil
}

// manifestReader reads the text of a manifest, and bounds each element of it: the
// library keeps in memory what it has begun to read.
type manifestReader struct {
	call     *call
	r        io.Reader
	what     string
	left     int64 // bytes of the whole text
	element  int64 // bytes of the element that is being read
	needed   int64 // memory of what was read
	reserved int64
	failed   error
}

// manifestStep is how much memory is reserved at a time, in bytes.
const manifestStep = 256 << 10

// reserve counts memory for what was read.
func (d *manifestReader) reserve(bytes int64) error {
	d.needed += bytes
	if d.reserved > d.needed {
		return nil
	}
	d.reserved += manifestStep
	return d.call.takePart(manifestPart, d.reserved)
}

func (d *manifestReader) fail(err error) error {
	d.failed = err
	return err
}

func (d *manifestReader) Read(p []byte) (int, error) {
	if d.element <= 0 {
		return 0, d.fail(badManifest("a part of it is longer than %d bytes", maxElement))
	}
	n, err := d.r.Read(p[:min(int64(len(p)), d.element)])
	d.element -= int64(n)
	d.left -= int64(n)
	switch {
	case d.left < 0:
		return 0, d.fail(tooLarge(d.what, d.call.s.Limits.PlanBytes))
	case err != nil && !errors.Is(err, io.EOF):
		d.failed = err
	}
	return n, err
}
