package kept_test

import (
	"testing"

	"example.com/projecthub/cmd/tool/internal/kept"
)

func TestConsent_IsRememberedForOneName(t *testing.T) {
	s := kept.New(t.TempDir())
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
	if nowhere := kept.New(""); nowhere.Consent("web") == nil || nowhere.Consented("web") {
		t.Error("a yes is remembered nowhere")
	}
}
