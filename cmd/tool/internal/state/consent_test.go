package state_test

import (
	"testing"

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
