package store_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"testing"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// pushed stores what changed of a set as a push does: contents in path order, packs
// of at most frame.Size bytes.
func pushed(ctx context.Context, s *store.Store, r ref.Ref, set map[string]string, changed []string) error {
	var packs []store.Pack
	var blobs []store.Blob
	var stream []byte
	name := rand.Text()
	slices.Sort(changed)
	for _, path := range changed {
		text := set[path]
		blobs = append(blobs, store.Blob{SHA256: sumOf(text), Size: int64(len(text)), Stream: name, Start: int64(len(stream))})
		stream = append(stream, text...)
	}
	for start := 0; start < len(stream); start += frame.Size {
		part := stream[start:min(start+frame.Size, len(stream))]
		packs = append(packs, store.Pack{Stream: name, Start: int64(start), Length: int64(len(part)), Body: raw(string(part))})
	}
	return s.Write(ctx, func(tx *store.Tx) error {
		if err := tx.AddBlobs(ctx, "acme", packs, blobs); err != nil {
			return err
		}
		return swapTo(ctx, tx, r, entriesOf(set))
	})
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func entriesOf(set map[string]string) []tree.Entry {
	var entries []tree.Entry
	for _, path := range slices.Sorted(maps.Keys(set)) {
		entries = append(entries, tree.Entry{Path: path, Mode: tree.Regular, Size: int64(len(set[path])), SHA256: sumOf(set[path])})
	}
	return entries
}

// readAll reads a set as an archive does, and returns how many bytes were decoded.
func readAll(ctx context.Context, s *store.Store, files tree.Tree) (decoded int64, err error) {
	err = s.Read(ctx, func(v *store.View) error {
		reader := v.BlobReader("acme")
		stored, err := reader.Locate(ctx, files)
		if err != nil {
			return err
		}
		for _, f := range stored {
			if err := reader.Copy(ctx, io.Discard, f.Blob); err != nil {
				return err
			}
		}
		decoded = reader.Decoded()
		return nil
	})
	return decoded, err
}

// spread pushes n files of about 4 KiB, and then changes 20 of them in each of so
// many pushes.
func spread(t testing.TB, s *store.Store, web ref.Ref, n, pushes int) (files tree.Tree) {
	t.Helper()
	random := mathrand.New(mathrand.NewPCG(1, 2))
	set := map[string]string{}
	var changed []string
	for i := range n {
		changed = append(changed, fmt.Sprintf("src/%04d", i))
	}
	for push := range 1 + pushes {
		for _, path := range changed {
			set[path] = fmt.Sprintf("%s in push %d %0*d", path, push, 1000+random.IntN(6000), 0)
		}
		if err := pushed(t.Context(), s, web, set, changed); err != nil {
			t.Fatal(err)
		}
		all := slices.Sorted(maps.Keys(set))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		changed = all[:20]
	}
	files, err := tree.New(entriesOf(set))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// packs returns how many packs are stored, and the bytes of their content.
func packs(t testing.TB, s *store.Store) (n, bytes int64) {
	t.Helper()
	err := s.Read(t.Context(), func(v *store.View) (err error) {
		n, bytes, err = v.Packs(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, bytes
}

func TestReader_DecodesEachPackOnce(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		files := spread(t, s, project(t, s), 1000, 50)
		decoded, err := readAll(t.Context(), s, files)
		if n, stored := packs(t, s); err != nil || decoded > stored || decoded > files.Bytes()+n*frame.Size {
			t.Errorf("%d bytes were decoded for %d bytes of files in %d packs of %d bytes: %v", decoded, files.Bytes(), n, stored, err)
		}
	})
}

// The number to look at is the ratio: it does not depend on the machine.
func BenchmarkReader(b *testing.B) {
	for _, pushes := range []int{0, 50} {
		b.Run(fmt.Sprintf("after %d pushes", pushes), func(b *testing.B) {
			s := open(b, storetest.SQLite(b))
			files := spread(b, s, project(b, s), 2000, pushes)
			var decoded int64
			for b.Loop() {
				var err error
				if decoded, err = readAll(b.Context(), s, files); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(decoded)/float64(files.Bytes()), "decoded/byte")
		})
	}
}
