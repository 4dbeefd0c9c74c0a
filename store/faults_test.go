package store_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
	"example.com/projecthub/store/objects"
	"example.com/projecthub/store/storetest"
)

var faultyPushes = flag.Int("faulty-pushes", 40, "make this many pushes to an object store with faults")

// faults is a proxy in front of an object store. One in five requests is slow, refused,
// cut off on its way there or back, or done without an answer.
type faults struct {
	host string
	seen [5]atomic.Int64
}

func (f *faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const refused, cutRequest, cutResponse, lost, slow = 0, 1, 2, 3, 4
	fault := mathrand.IntN(25)
	if fault < len(f.seen) {
		f.seen[fault].Add(1)
	}
	if fault == refused {
		http.Error(w, "", []int{500, 502, 503, 504, 429}[mathrand.IntN(5)])
		return
	}
	if fault == slow {
		time.Sleep(time.Duration(mathrand.IntN(200)) * time.Millisecond)
	}
	body := io.Reader(r.Body)
	if fault == cutRequest {
		body = io.LimitReader(body, r.ContentLength/2)
	}
	out, _ := http.NewRequestWithContext(r.Context(), r.Method, "http://"+f.host+r.URL.RequestURI(), body)
	out.Host, out.Header, out.ContentLength = r.Host, r.Header, r.ContentLength // as it was signed
	if r.ContentLength == 0 {
		out.Body = http.NoBody
	}
	in, err := http.DefaultTransport.RoundTrip(out)
	if err != nil || fault == lost {
		panic(http.ErrAbortHandler) // ends the connection
	}
	defer in.Body.Close()
	for name, values := range in.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(in.StatusCode)
	if fault == cutResponse && in.ContentLength > 0 {
		io.CopyN(w, in.Body, in.ContentLength/2)
		panic(http.ErrAbortHandler)
	}
	io.Copy(w, in.Body)
}

// TestObjects_StayConsistentWithFaultyBucket pushes while another process collects: at
// first with a grace period, as hubs do, then all that is unused, even what a push has just
// uploaded or is uploading. Then an upload may end after its object was removed, and leave it.
func TestObjects_StayConsistentWithFaultyBucket(t *testing.T) {
	keepTrees(t, 1)
	host := storetest.Bucket(t)
	storetest.Each(t, func(t *testing.T, address string) {
		f := &faults{host: host}
		proxy := httptest.NewServer(f)
		defer proxy.Close()
		outside, err := objects.Open("s3://blobs/"+rand.Text()+"?region=us-east-1&endpoint="+proxy.URL, false)
		if err != nil {
			t.Fatal(err)
		}
		s := openWith(t, address, outside)
		web := project(t, s)
		stored := pushAndCollect(t, s, web, *faultyPushes/4, time.Hour)
		checkObjects(t, s, outside, false)
		stored += pushAndCollect(t, s, web, *faultyPushes/4, none)
		checkObjects(t, s, outside, true)
		var seen []int64
		for i := range f.seen {
			seen = append(seen, f.seen[i].Load())
		}
		t.Logf("%d pushes were stored; faults: %d", stored, seen)
	})
}

// TestObjects_StayConsistentWhileCollected is the same with a directory, without faults.
func TestObjects_StayConsistentWhileCollected(t *testing.T) {
	keepTrees(t, 1)
	withObjects(t, func(t *testing.T, s *store.Store, dir string) {
		pushAndCollect(t, s, project(t, s), *faultyPushes, none)
		checkObjects(t, s, directory(t, dir), true)
	})
}

// pushAndCollect makes pushes of a project in four goroutines, each again after a failure
// that a client tries again after, while another goroutine collects.
func pushAndCollect(t *testing.T, s *store.Store, web ref.Ref, pushes int, grace time.Duration) (stored int64) {
	t.Helper()
	if grace < store.MinGrace { // which a push relies on for what it has stored a moment ago
		always(t)
	}
	ended := make(chan struct{})
	var pushing, collecting sync.WaitGroup
	collecting.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
			}
			if _, err := s.Collect(t.Context(), grace); err != nil && !errors.Is(err, store.ErrObjects) {
				t.Error(err)
			}
		}
	})
	var left, done atomic.Int64
	left.Store(int64(pushes))
	for range 4 {
		pushing.Go(func() {
			for left.Add(-1) >= 0 {
				for try := 1; ; try++ {
					err := pushSome(t.Context(), s, web)
					var outdated *store.OutdatedError
					if err == nil {
						done.Add(1)
						break
					}
					again := errors.Is(err, store.ErrObjects) || errors.Is(err, store.ErrUnavailable) || errors.As(err, &outdated)
					if !again || try == 50 {
						t.Error(err)
						break
					}
				}
			}
		})
	}
	pushing.Wait()
	close(ended)
	collecting.Wait()
	return done.Load()
}

// pushSome pushes a few files, one time in four so much that it is stored in several batches.
func pushSome(ctx context.Context, s *store.Store, web ref.Ref) error {
	w := s.NewPackWriter("acme", store.PackOptions{
		Check: func(context.Context, *store.Tx) error { return nil }, Reserve: func(int64) error { return nil },
	})
	defer w.Abort()
	size := 1 + mathrand.IntN(20<<10)
	if mathrand.IntN(4) == 0 {
		size = 700 << 10
	}
	var entries []tree.Entry
	for i := range 4 {
		content := make([]byte, size)
		rand.Read(content)
		e := tree.Entry{Path: fmt.Sprint("f", i), Mode: tree.Regular, Size: int64(size), SHA256: fmt.Sprintf("%x", sha256.Sum256(content))}
		entries = append(entries, e)
		if err := w.Add(ctx, e.SHA256, content); err != nil {
			return err
		}
	}
	files, err := tree.New(entries)
	if err != nil {
		return err
	}
	swap := store.Swap{Author: store.Author{By: "alice"}, Next: func(tree.Tree) (tree.Tree, error) { return files, nil }}
	_, err = w.Finish(ctx, web, swap, func(*store.Tx, *store.Swapped) error { return nil })
	return err
}

// checkObjects checks that all that is stored is whole, and, unless objects may be left,
// that each object is a pack once all that is unused was collected.
func checkObjects(t *testing.T, s *store.Store, outside objects.Store, mayLeave bool) {
	t.Helper()
	again := func(call func() error) {
		t.Helper()
		err := call()
		for range 20 {
			if !errors.Is(err, store.ErrObjects) {
				break
			}
			err = call()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		again(func() error { _, err := s.Collect(t.Context(), none); return err })
	}
	var problems []store.Problem
	again(func() error {
		problems = nil
		_, err := s.Check(t.Context(), false, func(p store.Problem) { problems = append(problems, p) })
		return err
	})
	for _, p := range problems {
		if errors.Is(p.Cause, store.ErrDamaged) || errors.Is(p.Cause, store.ErrMissing) || !mayLeave {
			t.Errorf("%v: %s", p.Cause, p.Remedy)
		}
	}
	var listed []string
	again(func() error {
		listed = nil
		return outside.List(t.Context(), func(key string) error { listed = append(listed, key); return nil })
	})
	if n, _ := packs(t, s); !mayLeave && int64(len(listed)) != n+1 {
		t.Errorf("%d packs and %q", n, listed)
	}
}
