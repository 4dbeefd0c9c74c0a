package objects_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/store/objects"
	"example.com/projecthub/store/storetest"
)

// each runs f with a directory and with a prefix of a bucket.
func each(t *testing.T, f func(t *testing.T, s objects.Store)) {
	t.Run("directory", func(t *testing.T) { f(t, open(t, "file:"+filepath.Join(t.TempDir(), "new", "blobs"))) })
	t.Run("bucket", func(t *testing.T) {
		f(t, open(t, "s3://blobs/of/hub?region=us-east-1&path-style=true&endpoint=http://"+storetest.Bucket(t)))
	})
}

func open(t *testing.T, address string) objects.Store {
	t.Helper()
	s, err := objects.Open(address, true)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore_KeepsObjects(t *testing.T) {
	each(t, func(t *testing.T, s objects.Store) {
		ctx := t.Context()
		large := bytes.Repeat([]byte("0123456789abcdef"), 4<<16)
		bodies := map[string][]byte{"mark": []byte("id"), "packs/acme/ab/abc": []byte("body"), "packs/acme/ab/abd": large, "packs/bob/xy/empty": {}}
		for key, body := range bodies {
			if err := s.Put(ctx, key, body); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Put(ctx, "mark", []byte("ID")); err != nil {
			t.Errorf("once more: %v", err)
		}
		bodies["mark"] = []byte("ID")
		var listed []string
		if err := s.List(ctx, func(key string) error { listed = append(listed, key); return nil }); err != nil {
			t.Error(err)
		}
		slices.Sort(listed)
		if want := []string{"mark", "packs/acme/ab/abc", "packs/acme/ab/abd", "packs/bob/xy/empty"}; !slices.Equal(listed, want) {
			t.Errorf("%q, want %q", listed, want)
		}
		for key, body := range bodies {
			if got, err := s.Get(ctx, key, int64(len(body))); err != nil || !bytes.Equal(got, body) {
				t.Errorf("%s: %d bytes, %v", key, len(got), err)
			}
			if _, err := s.Get(ctx, key, int64(len(body))+1); !errors.Is(err, objects.ErrSize) {
				t.Errorf("%s has one byte more: %v", key, err)
			}
			if err := errors.Join(s.Remove(ctx, key), s.Remove(ctx, key)); err != nil {
				t.Errorf("remove %s twice: %v", key, err)
			}
			if _, err := s.Get(ctx, key, int64(len(body))); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is removed: %v", key, err)
			}
		}
	})
}

func TestDirectory_RemovesWhatInterruptedPutLeft(t *testing.T) {
	dir := t.TempDir()
	s := open(t, "file:"+dir)
	if err := os.WriteFile(filepath.Join(dir, "a.tmp"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.List(t.Context(), func(key string) error { t.Errorf("%s is listed", key); return nil })
	if err := s.Remove(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestDirectory_KeepsKeysInside(t *testing.T) {
	dir := t.TempDir()
	s := open(t, "file:"+filepath.Join(dir, "blobs"))
	if err := s.Put(t.Context(), "../outside", []byte("x")); err == nil {
		t.Error("an object is outside of the directory")
	}
	if _, err := os.Stat(filepath.Join(dir, "outside")); err == nil {
		t.Error("a file is outside of the directory")
	}
}

func TestOpen_RefusesMalformedAddresses(t *testing.T) {
	for _, address := range []string{
		"", "blobs", "/srv/blobs", "file:", "s3:bucket", "s3://", "s3://ab", "s3://UPPER", "http://s3.example.com/bucket", "s3://bucket#x",
		"s3://key:hidden@bucket", "s3://bucket?secret=hidden", "s3://bucket?endpoint=s3.example.com", "s3://bucket?endpoint=https://key:hidden@s3.example.com",
		"s3://bucket?endpoint=https://s3.example.com/hidden", "s3://bucket?path-style=hidden", "s3://bucket?endpoint=%zz",
	} {
		_, err := objects.Open(address, false)
		if !errors.Is(err, objects.ErrAddress) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := objects.Open("file:"+filepath.Join(t.TempDir(), "missing"), false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}

func TestBucket_NamesRefusalsWithoutCredentials(t *testing.T) {
	host := storetest.Bucket(t)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hidden")
	for what, address := range map[string]string{"a wrong secret": "s3://blobs?endpoint=http://" + host, "a missing bucket": "s3://missing?endpoint=http://" + host} {
		s := open(t, address)
		_, err := s.Get(t.Context(), "a", 1)
		for _, err := range []error{err, s.Put(t.Context(), "a", []byte("a"))} {
			if !errors.Is(err, objects.ErrUnavailable) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}
