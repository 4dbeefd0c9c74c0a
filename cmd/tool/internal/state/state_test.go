package state_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/projecthub/cmd/tool/internal/state"
)

func TestConsent_IsRememberedForOneName(t *testing.T) {
	s := state.Dir(t.TempDir())
	if s.Consented("web") {
		t.Error("a yes before there was one")
	}
	for range 2 {
		if err := s.Consent("web"); err != nil {
			t.Fatal(err)
		}
	}
	if !s.Consented("web") || s.Consented("shop") {
		t.Errorf("web: %v, shop: %v", s.Consented("web"), s.Consented("shop"))
	}
	if nowhere := state.Dir(""); nowhere.Consent("web") == nil || nowhere.Consented("web") {
		t.Error("a yes is remembered nowhere")
	}
}

func TestDue_OnceInATime(t *testing.T) {
	dir := t.TempDir()
	for i, want := range []bool{true, false} {
		if got := state.Due(dir, "a", time.Hour); got != want {
			t.Errorf("call %d: %v", i, got)
		}
	}
	if !state.Due(dir, "b", time.Hour) {
		t.Error("another reminder is not due")
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "reminders", "a"), old, old); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		if got := state.Due(dir, "a", time.Hour); got != want {
			t.Errorf("later call %d: %v", i, got)
		}
	}
	for range 2 {
		if !state.Due("", "a", time.Hour) {
			t.Error("without a directory it is not due")
		}
	}
}
