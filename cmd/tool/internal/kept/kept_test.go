package kept_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/kept"
	"example.com/projecthub/hubclient/wire"
)

func value(name string, n int) kept.Value {
	at := time.Date(2026, 1, 2, 3, 4, n, 0, time.UTC)
	return kept.Value{
		Name: name, Config: jsontext.Value(fmt.Sprintf(`{"n":%d}`, n)), Written: "r",
		Former: wire.Edit{Revision: "f", UpdatedBy: "carol", UpdatedVia: wire.ViaPage, UpdatedAt: at}, At: at,
	}
}

func TestTheNewestComesBackFirstAndThenTheOneBefore(t *testing.T) {
	s := kept.New(t.TempDir())
	for n := range 3 {
		if err := s.Keep(value("web", n)); err != nil {
			t.Fatal(err)
		}
	}
	for n := 2; n >= 0; n-- {
		v, drop, err := s.Newest("web")
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Config.Compact(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(value("web", n), *v); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if err := drop(); err != nil {
			t.Fatal(err)
		}
	}
	if v, _, err := s.Newest("web"); v != nil || err != nil {
		t.Errorf("nothing is left, but Newest = %v, %v", v, err)
	}
}

func TestTwentyAreKeptOfEachPlaceReadableByTheirOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	s := kept.New(dir)
	for n := range 30 {
		if err := s.Keep(value("web", n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Keep(value("other", 1)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != 21 {
		t.Fatalf("%d files, %v; want 21", len(files), err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
	if v, _, err := s.Newest("web"); err != nil || string(v.Config) == "" || v.At.Second() != 29 {
		t.Errorf("the newest is %+v, %v", v, err)
	}
}

func TestADamagedFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	s := kept.New(dir)
	if err := s.Keep(value("web", 1)); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Newest("web"); err == nil {
		t.Error("a damaged file was read")
	}
}
