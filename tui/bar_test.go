package tui

import (
	"math"
	"strings"
	"testing"
)

func TestBar_IsEmptyOnlyForNothingAndFullOnlyForAll(t *testing.T) {
	for _, c := range []struct {
		used, limit int64
		filled      int
	}{
		{0, 10, 0}, {1, 1_000_000, 1}, {5, 10, 5}, {999_999, 1_000_000, 9}, {10, 10, 10}, {11, 10, 10}, {0, 0, 10},
		{1e15, 1e15, 10}, {math.MaxInt64 - 1, math.MaxInt64, 9},
	} {
		bar := Bar(c.used, c.limit, 10)
		if got := strings.Count(bar, "█") + strings.Count(bar, "#"); got != c.filled || len([]rune(bar)) != 10 {
			t.Errorf("%d of %d: %s", c.used, c.limit, bar)
		}
	}
}
