package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// put stores contents in one pack and makes those that are named the project's set.
func put(ctx context.Context, s *store.Store, r ref.Ref, blobs map[string]string) error {
	var stream []byte
	var rows []store.Blob
	var entries []tree.Entry
	name := rand.Text()
	for path, text := range blobs {
		sum := sha256.Sum256([]byte(text))
		digest := hex.EncodeToString(sum[:])
		rows = append(rows, store.Blob{SHA256: digest, Size: int64(len(text)), Stream: name, Start: int64(len(stream))})
		entries = append(entries, tree.Entry{Path: path, Mode: tree.Regular, Size: int64(len(text)), SHA256: digest})
		stream = append(stream, text...)
	}
	pack := store.Pack{Stream: name, Length: int64(len(stream)), Body: frame.Append(nil, stream)}
	packs, err := s.Upload(ctx, "acme", []store.Pack{pack})
	if err != nil {
		return err
	}
	return s.Write(ctx, func(tx *store.Tx) error {
		if err := tx.AddBlobs(ctx, "acme", packs, rows); err != nil {
			return err
		}
		return swapTo(ctx, tx, r, entries)
	})
}

func swapTo(ctx context.Context, tx *store.Tx, r ref.Ref, entries []tree.Entry) error {
	files, err := tree.New(entries)
	if err != nil {
		return err
	}
	_, err = tx.SwapSnapshot(ctx, r, store.Swap{Author: store.Author{By: "alice"}, Next: func(tree.Tree) (tree.Tree, error) { return files, nil }})
	return err
}

// get reads a project's set whole.
func get(ctx context.Context, s *store.Store, r ref.Ref) (map[string]string, error) {
	blobs := map[string]string{}
	err := s.Read(ctx, func(v *store.View) error {
		set, err := v.Snapshot(ctx, r)
		if err != nil {
			return err
		}
		files, err := tree.Parse(set.Files)
		if err != nil {
			return err
		}
		reader := v.BlobReader("acme")
		for _, e := range files {
			there, err := v.Blobs(ctx, "acme", []string{e.SHA256})
			if err != nil {
				return err
			}
			c, ok := there[e.SHA256]
			if !ok {
				return fmt.Errorf("%s points to a content that is missing", e.Path)
			}
			var b bytes.Buffer
			if err := reader.Copy(ctx, &b, c); err != nil {
				return err
			}
			blobs[e.Path] = b.String()
		}
		return nil
	})
	return blobs, err
}

// collect collects, and returns what was done.
func collect(t *testing.T, s *store.Store, grace time.Duration) store.Collected {
	t.Helper()
	c, err := s.Collect(t.Context(), grace)
	if err != nil {
		t.Fatal(err)
	}
	c.Examined = 0
	return c
}

// none is a grace that is over before anything happened.
const none = -time.Hour

func TestCollect_RemovesUnreferencedAfterGracePeriod(t *testing.T) {
	keepTrees(t, 1)
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		first := map[string]string{"a": "alpha", "b": string(bytes.Repeat([]byte("b"), 1000)), "empty": ""}
		second := map[string]string{"a": "alpha", "c": "gamma"}
		for _, blobs := range []map[string]string{first, second} {
			if err := put(t.Context(), s, web, blobs); err != nil {
				t.Fatal(err)
			}
		}
		if c := collect(t, s, time.Hour); c != (store.Collected{Moved: 1}) && c != (store.Collected{}) {
			t.Errorf("within the grace: %+v", c)
		}
		if c := collect(t, s, none); c.Blobs != 2 {
			t.Errorf("after it: %+v", c)
		}
		collect(t, s, none) // what was moved out of its pack leaves that empty
		if c := collect(t, s, none); c != (store.Collected{}) {
			t.Errorf("once more: %+v", c)
		}
		got, err := get(t.Context(), s, web)
		if diff := cmp.Diff(second, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		purge(t, s, web)
		if c := collect(t, s, time.Hour); c.Blobs != 0 {
			t.Errorf("a project was deleted a moment ago: %+v", c)
		}
		collect(t, s, none)
		if c := collect(t, s, none); c != (store.Collected{}) {
			t.Errorf("something is left of a project that is gone: %+v", c)
		}
	})
}

func TestCollect_RepacksMostlyEmptyPack(t *testing.T) {
	keepTrees(t, 1)
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		blobs := map[string]string{}
		for i := range 50 {
			noise := make([]byte, 10<<10)
			rand.Read(noise)
			blobs[fmt.Sprint("f", i)] = string(noise)
		}
		if err := put(t.Context(), s, web, blobs); err != nil {
			t.Fatal(err)
		}
		kept := map[string]string{"f1": blobs["f1"], "f7": blobs["f7"]}
		if err := put(t.Context(), s, web, kept); err != nil {
			t.Fatal(err)
		}
		// A reader that has looked up where a blob is stored reads on when it moves.
		s.Read(t.Context(), func(v *store.View) error {
			set, err := v.Snapshot(t.Context(), web)
			if err != nil {
				t.Fatal(err)
			}
			files, err := tree.Parse(set.Files)
			if err != nil {
				t.Fatal(err)
			}
			there, err := v.Blobs(t.Context(), "acme", []string{files[0].SHA256})
			if err != nil {
				t.Fatal(err)
			}
			c := collect(t, s, none)
			if c.Blobs != 48 || c.Moved != 2 {
				t.Errorf("%+v", c)
			}
			if c := collect(t, s, none); c.Packs != 1 || c.Bytes < 400<<10 {
				t.Errorf("the packs: %+v", c)
			}
			var b bytes.Buffer
			if err := v.BlobReader("acme").Copy(t.Context(), &b, there[files[0].SHA256]); err != nil || b.String() != blobs["f1"] {
				t.Errorf("%d bytes, %v", b.Len(), err)
			}
			return nil
		})
		got, err := get(t.Context(), s, web)
		if diff := cmp.Diff(kept, got); diff != "" || err != nil {
			t.Errorf("%v %.500s", err, diff)
		}
	})
}

func TestCollect_RepacksRestOfLargePack(t *testing.T) {
	keepTrees(t, 1)
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		noise := make([]byte, 3<<20)
		rand.Read(noise)
		blobs := map[string]string{"a": string(noise[:700<<10]), "b": string(noise[700<<10:])}
		if err := put(t.Context(), s, web, blobs); err != nil {
			t.Fatal(err)
		}
		kept := map[string]string{"a": blobs["a"]}
		if err := put(t.Context(), s, web, kept); err != nil {
			t.Fatal(err)
		}
		collect(t, s, none)
		collect(t, s, none) // of what was moved, the former pack
		if size := largest(t, s); size > 1<<20 {
			t.Errorf("a pack of %d bytes is left for a content of 700 KiB", size)
		}
		got, err := get(t.Context(), s, web)
		if diff := cmp.Diff(kept, got); diff != "" || err != nil {
			t.Errorf("%v %.500s", err, diff)
		}
	})
}

func largest(t *testing.T, s *store.Store) (bytes int64) {
	t.Helper()
	err := s.Read(t.Context(), func(v *store.View) (err error) {
		bytes, err = v.LargestPack(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// What PostgreSQL had not synced is gone when it was restarted.
func TestPutFiles_RefusedWhenBlobsAreGone(t *testing.T) {
	s := open(t, storetest.Postgres(t))
	web := project(t, s)
	lost := tree.Entry{Path: "a", Mode: tree.Regular, Size: 5, SHA256: strings.Repeat("ab", 32)}
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		swap := store.Swap{Author: store.Author{By: "alice"}, Next: func(tree.Tree) (tree.Tree, error) { return tree.Tree{lost}, nil }}
		swap.SetRecent(lost.SHA256)
		_, err := tx.SwapSnapshot(t.Context(), web, swap)
		return err
	})
	if o, ok := errors.AsType[*store.OutdatedError](err); !ok || !slices.Equal(o.Missing, []string{lost.SHA256}) {
		t.Errorf("%v", err)
	}
}

func TestCollect_CompressesRawPackOnce(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		text := string(bytes.Repeat([]byte("some text "), 10_000))
		sum := sha256.Sum256([]byte(text))
		e := tree.Entry{Path: "a", Mode: tree.Regular, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
		pack := store.Pack{Stream: "s", Length: e.Size, Body: raw(text)}
		write(t, s, func(tx *store.Tx) error {
			return errors.Join(tx.AddBlobs(t.Context(), "acme", []store.Pack{pack}, []store.Blob{{SHA256: e.SHA256, Size: e.Size, Stream: "s"}}),
				swapTo(t.Context(), tx, web, []tree.Entry{e}))
		})
		for _, want := range []store.Collected{{Smaller: 1}, {}} {
			if c := collect(t, s, none); c != want {
				t.Errorf("%+v, want %+v", c, want)
			}
		}
		if got, err := get(t.Context(), s, web); err != nil || got["a"] != text {
			t.Errorf("%d bytes, %v", len(got["a"]), err)
		}
	})
}

func TestContents_DamagedPackIsNeverReturned(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		pack := store.Pack{Stream: "s", Length: 5, Body: raw("alphx")}
		sum := sha256.Sum256([]byte("alpha"))
		digest := hex.EncodeToString(sum[:])
		write(t, s, func(tx *store.Tx) error {
			return errors.Join(tx.AddBlobs(t.Context(), "acme", []store.Pack{pack}, []store.Blob{{SHA256: digest, Size: 5, Stream: "s"}}),
				swapTo(t.Context(), tx, web, []tree.Entry{{Path: "a", Mode: tree.Regular, Size: 5, SHA256: digest}}))
		})
		if got, err := get(t.Context(), s, web); err == nil {
			t.Errorf("it reads %v", got)
		}
	})
}

var puts = flag.Int("puts", 200, "sets put while collections run")

// Collections run all the time, with hardly any grace, while contents come and
// go, are taken up again, and are promised: no set ever lacks one.
func TestCollect_KeepsReferencedBlobs(t *testing.T) {
	keepTrees(t, 1)
	former := store.Fresh
	store.Fresh = 20 * time.Millisecond
	t.Cleanup(func() { store.Fresh = former })
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var collecting sync.WaitGroup
		collections := 0
		collecting.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.Collect(ctx, 100*time.Millisecond); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				collections++
			}
		})
		r := mathrand.New(mathrand.NewPCG(1, 2))
		taken, gone := 0, 0
		for i := range *puts {
			blobs := map[string]string{}
			var entries []tree.Entry
			sizes := map[string]int64{}
			for range 3 {
				text := fmt.Sprint("content ", r.IntN(12))
				blobs[text] = text
				sum := sha256.Sum256([]byte(text))
				e := tree.Entry{Path: text, Mode: tree.Regular, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
				entries, sizes[e.SHA256] = append(entries, e), e.Size
			}
			if i%2 == 0 {
				if err := put(t.Context(), s, web, blobs); err != nil {
					t.Fatal(err)
				}
			} else if len(blobs) == 3 { // what others uploaded before
				err := s.Write(t.Context(), func(tx *store.Tx) error {
					if _, err := tx.Lease(t.Context(), "acme", sizes); err != nil {
						return err
					}
					return swapTo(t.Context(), tx, web, entries)
				})
				var outdated *store.OutdatedError
				if errors.As(err, &outdated) {
					gone++
				} else if err != nil {
					t.Fatal(err)
				} else {
					taken++
				}
			}
			if _, err := get(t.Context(), s, web); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		collecting.Wait()
		if t.Logf("%d sets taken up again, %d not, %d collections", taken, gone, collections); taken == 0 || collections < 5 {
			t.Error("nothing was tried")
		}
	})
}

// raw returns an uncompressed frame of text.
func raw(text string) []byte { return frame.AppendRaw(nil, []byte(text)) }

func TestCollect_LooksAtWhatChanged(t *testing.T) {
	keepTrees(t, 1)
	if testing.Short() {
		t.Skip("fills a database")
	}
	storetest.Each(t, func(t *testing.T, address string) {
		s := crowd(t, address, many)
		web := mustRef(t, "@acme/web")
		for _, blobs := range []map[string]string{{"a": "alpha", "b": "beta"}, {"a": "alpha"}} {
			if err := put(t.Context(), s, web, blobs); err != nil {
				t.Fatal(err)
			}
		}
		bounded(t, s, 10, func() error {
			c, err := s.Collect(t.Context(), none)
			// The set; the two contents; the two streams of the pushes.
			if c.Blobs != 1 || c.Examined != 5 {
				t.Errorf("%+v", c)
			}
			return err
		})
	})
}

func TestCollect_RunsInOneProcess(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s, other := open(t, address), storetest.Open(t, address)
		unlock, err := s.LockCollecting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Collect(t.Context(), none); !errors.Is(err, store.ErrCollecting) {
			t.Errorf("a second collection: %v, want ErrCollecting", err)
		}
		if _, ran, err := other.CollectWhenDue(t.Context(), none, time.Hour); ran || err != nil {
			t.Errorf("a second hub's collection ran: %v, %v", ran, err)
		}
		unlock()
		if _, ran, err := other.CollectWhenDue(t.Context(), none, time.Hour); !ran || err != nil {
			t.Errorf("once the first one ended, it ran: %v, %v", ran, err)
		}
	})
}

func TestCollect_IsDueWhenTheLastOneIsLongAgo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		open(t, address)
		for _, c := range []struct {
			hours int // since the last one
			ran   bool
		}{{0, true}, {0, false}, {-1, true}, {0, false}} {
			execute(t, address, fmt.Sprintf("UPDATE periodic_work SET ran_at = ran_at + %d", int64(c.hours)*time.Hour.Microseconds()))
			s := storetest.Open(t, address) // as a hub does that was restarted
			if _, ran, err := s.CollectWhenDue(t.Context(), time.Hour, time.Hour); ran != c.ran || err != nil {
				t.Errorf("it ran: %v, %v, want %v", ran, err, c.ran)
			}
			s.Close()
		}
	})
}

func TestCollect_KeepsWhatAHubOfTheReleaseBeforeNamed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		kept := map[string]string{"a": "alpha", "b": "beta"}
		if err := put(t.Context(), s, web, kept); err != nil {
			t.Fatal(err)
		}
		collect(t, s, time.Hour)
		execute(t, address, "CREATE TABLE saved AS SELECT tree, files FROM base_sets")
		if err := put(t.Context(), s, web, map[string]string{"c": "gamma"}); err != nil {
			t.Fatal(err)
		}
		collect(t, s, time.Hour)
		// That hub knows no index.
		execute(t, address, "UPDATE base_sets SET tree = (SELECT tree FROM saved), files = (SELECT files FROM saved)")
		if c := collect(t, s, none); c.Blobs != 1 {
			t.Errorf("%+v, want the one content removed that no set names", c)
		}
		if got, err := get(t.Context(), s, web); err != nil || fmt.Sprint(got) != fmt.Sprint(kept) {
			t.Errorf("%v, %v", got, err)
		}
	})
}
