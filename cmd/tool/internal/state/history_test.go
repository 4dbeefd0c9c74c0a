package state_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/hubclient/wire"
)

func value(name string, n int) state.Value {
	at := time.Date(2026, 1, 2, 3, 4, n, 0, time.UTC)
	return state.Value{
		Name: name, Config: jsontext.Value(fmt.Sprintf(`{"n":%d}`, n)), Written: "r",
		Former: wire.Edit{Revision: "f", UpdatedBy: "carol", UpdatedVia: wire.ViaPage, UpdatedAt: at}, At: at,
	}
}

func TestHistory_LatestReturnsTheNewestThenTheOneBefore(t *testing.T) {
	s := state.NewHistory(t.TempDir())
	for n := range 3 {
		if err := s.Save(value("web", n)); err != nil {
			t.Fatal(err)
		}
	}
	for n := 2; n >= 0; n-- {
		v, err := s.Latest("web", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Config.Compact(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(value("web", n), v.Value); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if err := v.Drop(); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := s.Latest("web", nil); v != nil || err != nil {
		t.Errorf("nothing is left, but Latest = %v, %v", v, err)
	}
}

func TestHistory_SaveKeepsTwentyOfEachPlaceForTheirOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	s := state.NewHistory(dir)
	for n := range 30 {
		if err := s.Save(value("web", n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Save(value("other", 1)); err != nil {
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
	if v, err := s.Latest("web", nil); err != nil || string(v.Config) == "" || v.At.Second() != 29 {
		t.Errorf("the newest is %+v, %v", v, err)
	}
}

func TestHistory_LatestNamesAMalformedFile(t *testing.T) {
	dir := t.TempDir()
	s := state.NewHistory(dir)
	if err := s.Save(value("web", 1)); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Latest("web", nil); err == nil {
		t.Error("a damaged file was read")
	}
}

// A clock that was ahead once must not hide what is saved after it was set right, by
// this version or by one that named its files by the time.
func TestHistory_OrdersBySequenceWhateverTheClockSays(t *testing.T) {
	dir := t.TempDir()
	s := state.NewHistory(dir)
	ahead := value("web", 1)
	ahead.At = ahead.At.AddDate(10, 0, 0)
	if err := s.Save(ahead); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err := os.Rename(files[0], filepath.Join(filepath.Dir(files[0]), "20360102T030401.000000000Z-123.json")); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(ahead); err != nil {
		t.Fatal(err)
	}
	for n := 2; n < 13; n++ { // beyond one digit
		if err := s.Save(value("web", n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1} {
		e, err := s.Latest("web", nil)
		if err != nil || e == nil || e.At.Second() != want {
			t.Fatalf("the latest is %+v, %v; want %d", e, err, want)
		}
		if err := e.Drop(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEntry_IsPendingUntilItIsConfirmed(t *testing.T) {
	s := state.NewHistory(t.TempDir())
	if err := s.Save(value("web", 1)); err != nil {
		t.Fatal(err)
	}
	pending, err := s.Begin(value("web", 2))
	if err != nil || !pending.Pending {
		t.Fatalf("%+v, %v", pending, err)
	}
	isPending := func(e *state.Entry) bool { return e.Pending }
	for _, test := range []struct {
		skip    func(*state.Entry) bool
		want    int
		pending bool
	}{{nil, 2, true}, {isPending, 1, false}} {
		if e, err := s.Latest("web", test.skip); err != nil || e.At.Second() != test.want || e.Pending != test.pending {
			t.Errorf("the latest is %+v, %v; want %d", e, err, test.want)
		}
	}
	pending.Confirm()
	e, err := s.Latest("web", isPending)
	if err != nil || e.At.Second() != 2 || e.Pending || pending.Pending {
		t.Errorf("the latest is %+v, %v", e, err)
	}
	if err := pending.Drop(); err != nil { // which is where Confirm has put it
		t.Error(err)
	}
	if e, err := s.Latest("web", nil); err != nil || e.At.Second() != 1 {
		t.Errorf("the latest is %+v, %v", e, err)
	}
}

func TestEntry_ConfirmReportsThatAnotherProgramDroppedIt(t *testing.T) {
	s := state.NewHistory(t.TempDir())
	pending, err := s.Begin(value("web", 1))
	if err != nil {
		t.Fatal(err)
	}
	same, err := s.Latest("web", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := same.Drop(); err != nil {
		t.Fatal(err)
	}
	if pending.Confirm() {
		t.Error("a dropped entry counts as saved")
	}
}
