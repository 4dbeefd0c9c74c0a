package cmdline_test

import (
	"slices"
	"testing"

	"example.com/projecthub/cmd/internal/cmdline"
)

func TestShortlist_CountsTheRest(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	for most, want := range map[int]string{4: "a, b, c, d", 5: "a, b, c, d", 2: "a, b, and 2 more"} {
		if got := cmdline.Shortlist(names, most, len(names)); got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
	if !slices.Equal(names, []string{"a", "b", "c", "d"}) {
		t.Errorf("it changed the names: %q", names)
	}
	if got := cmdline.Shortlist([]string{"a", "b"}, 8, 5); got != "a, b, and 3 more" {
		t.Errorf("of five, two known: %q", got)
	}
}
