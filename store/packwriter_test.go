package store_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
)

// packing is a PackWriter and what it asks of its caller.
type packing struct {
	*store.PackWriter
	t        *testing.T
	s        *store.Store
	blobs    map[string]string // of the files of the push, by path
	reserved int64
	refused  error // of Check
	full     error // of Reserve
}

func newPacking(t *testing.T, s *store.Store) *packing {
	p := &packing{t: t, s: s, blobs: map[string]string{}}
	p.PackWriter = s.NewPackWriter("acme", store.PackOptions{
		Check:   func(context.Context, *store.Tx) error { return p.refused },
		Reserve: func(bytes int64) error { p.reserved = bytes; return p.full },
	})
	return p
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// noise returns text that does not compress.
func noise(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b)
	return string(b)
}

// frame adds a frame that holds one file from start on.
func (p *packing) frame(start int64, path, text string) {
	p.blobs[path] = text
	p.AddFrame(start, int64(len(text)), frame.Append(nil, []byte(text)))
	p.AddBlob(sha(text), start, int64(len(text)))
}

// files returns the tree of the push.
func (p *packing) files() tree.Tree {
	p.t.Helper()
	var entries []tree.Entry
	for path, text := range p.blobs {
		entries = append(entries, tree.Entry{Path: path, Mode: tree.Regular, Size: int64(len(text)), SHA256: sha(text)})
	}
	files, err := tree.New(entries)
	if err != nil {
		p.t.Fatal(err)
	}
	return files
}

// finish makes the files of the push those of a project.
func (p *packing) finish() error {
	swap := store.Swap{Author: store.Author{By: "alice"}, Next: func(tree.Tree) (tree.Tree, error) { return p.files(), nil }}
	_, err := p.Finish(p.t.Context(), mustRef(p.t, "@acme/web"), swap, func(*store.Tx, *store.Swapped) error { return nil })
	return err
}

// want fails the test unless the project has the files of the push.
func (p *packing) want() {
	p.t.Helper()
	got, err := get(p.t.Context(), p.s, mustRef(p.t, "@acme/web"))
	if diff := cmp.Diff(p.blobs, got); diff != "" || err != nil {
		p.t.Errorf("%v %.500s", err, diff)
	}
}

// lacks returns which texts the account has no blob of.
func (p *packing) lacks(texts ...string) (missing int) {
	p.t.Helper()
	write(p.t, p.s, func(tx *store.Tx) error {
		sizes := map[string]int64{}
		for _, text := range texts {
			sizes[sha(text)] = int64(len(text))
		}
		m, err := tx.Lease(p.t.Context(), "acme", sizes)
		missing = len(m)
		return err
	})
	return missing
}

func TestPackWriter_FinishWaitsForTheBatchBefore(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		project(t, s)
		p := newPacking(t, s)
		before, last := noise(2<<20), noise(1)
		p.frame(0, "before.txt", before)
		if err := p.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := p.Add(t.Context(), sha(last), []byte(last)); err != nil {
			t.Fatal(err)
		}
		p.full = errors.New("out of memory")
		if err := p.finish(); !errors.Is(err, p.full) {
			t.Errorf("finishing without memory: %v", err)
		}
		if n := p.lacks(before); n != 0 {
			t.Error("the batch before is not stored yet")
		}
	})
}

func TestPackWriter_StoresFramesInBatches(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		project(t, s)
		p := newPacking(t, s)
		start, most := int64(0), int64(0)
		for i := range 20 {
			text := noise(300 << 10)
			p.frame(start, fmt.Sprint("f", i), text)
			start += int64(len(text))
			if err := p.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			most = max(most, p.reserved)
		}
		if limit := int64(10 << 20); most == 0 || most > limit {
			t.Errorf("it reserved %d bytes, want some and at most %d", most, limit)
		}
		if err := p.finish(); err != nil || p.Blobs() != 20 {
			t.Errorf("%d blobs, %v", p.Blobs(), err)
		}
		p.want()
	})
}

func TestPackWriter_StoresWholeBlobsOnce(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		project(t, s)
		known := noise(700 << 10)
		if err := put(t.Context(), s, mustRef(t, "@acme/web"), map[string]string{"known": known}); err != nil {
			t.Fatal(err)
		}
		_, before := packs(t, s)
		p := newPacking(t, s)
		p.blobs = map[string]string{"a": noise(100), "b": "", "known": known, "large": noise(3 << 20)}
		p.blobs["again"] = p.blobs["large"]
		for _, text := range p.blobs {
			if err := p.Add(t.Context(), sha(text), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.finish(); err != nil {
			t.Fatal(err)
		}
		p.want()
		if _, after := packs(t, s); after-before != 3<<20+100 {
			t.Errorf("the packs grew by %d bytes, want those of each new blob once", after-before)
		}
	})
}

func TestPackWriter_KeepStoresWholeBlobsOnly(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		project(t, s)
		p := newPacking(t, s)
		whole, half := noise(1000), noise(2000)
		p.frame(0, "whole", whole)
		p.AddFrame(1000, 1000, frame.Append(nil, []byte(half[:1000])))
		p.AddBlob(sha(half), 1000, 2000)
		if err := p.Keep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := p.lacks(whole); n != 0 {
			t.Error("the whole blob is not stored")
		}
		if n := p.lacks(half); n != 1 {
			t.Error("a blob is stored whose last frame is missing")
		}
	})
}

func TestPackWriter_FinishKeepsBlobsOfAnOutdatedPlan(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		project(t, s)
		p := newPacking(t, s)
		text := noise(1000)
		p.frame(0, "f", text)
		swap := store.Swap{Author: store.Author{By: "alice"}, Tree: p.files().Digest(), Base: strings.Repeat("0", 64), Next: func(tree.Tree) (tree.Tree, error) { return p.files(), nil }}
		_, err := p.Finish(t.Context(), mustRef(t, "@acme/web"), swap, func(*store.Tx, *store.Swapped) error { return nil })
		if _, outdated := errors.AsType[*store.OutdatedError](err); !outdated {
			t.Fatalf("%v, want an OutdatedError", err)
		}
		if n := p.lacks(text); n != 0 {
			t.Error("the blob is not stored for the next attempt")
		}
	})
}

func TestPackWriter_LimitBoundsABlob(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		p := newPacking(t, s)
		const most = 1 << 20
		text := noise(2 << 20)
		for i := 0; ; i++ {
			p.AddFrame(int64(i)<<21, 2<<20, []byte(text))
			err := p.Limit(most)
			if gathered := int64(i+1) << 21; errors.Is(err, store.ErrLongBlob) && gathered > most+8<<20 && gathered <= most+14<<20 {
				break
			} else if err != nil || gathered > most+14<<20 {
				t.Fatalf("after %d bytes: %v", gathered, err)
			}
		}
		p.Abort()
	})
}

func TestPackWriter_FailsAsItsCallerDoes(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		project(t, s)
		p := newPacking(t, s)
		p.refused, p.full = errors.New("the role was removed"), errors.New("no memory is left")
		if err := p.Flush(t.Context()); !errors.Is(err, p.full) {
			t.Errorf("Flush: %v, want %v", err, p.full)
		}
		if err := p.Limit(1); !errors.Is(err, p.full) {
			t.Errorf("Limit: %v, want %v", err, p.full)
		}
		if err := p.Add(t.Context(), sha("text"), []byte("text")); !errors.Is(err, p.full) {
			t.Errorf("Add: %v, want %v", err, p.full)
		}
		p.frame(0, "f", "text")
		for name, f := range map[string]func() error{
			"Keep":   func() error { return p.Keep(t.Context()) },
			"Finish": p.finish,
		} {
			if err := f(); !errors.Is(err, p.refused) {
				t.Errorf("%s: %v, want %v", name, err, p.refused)
			}
		}
		if n := p.lacks("text"); n != 1 {
			t.Error("a blob was stored that Check refused")
		}
	})
}

func TestPackWriter_AFailedBatchFailsThePush(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		project(t, s)
		p := newPacking(t, s)
		p.refused = errors.New("the role was removed")
		p.frame(0, "f", noise(1<<20))
		if err := p.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := p.finish(); !errors.Is(err, p.refused) {
			t.Errorf("Finish: %v, want the error of the batch before", err)
		}
	})
}
