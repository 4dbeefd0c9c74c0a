package tui

import "strings"

// Bar returns a bar that is width columns long, and filled as used is to limit. It is
// empty only for nothing, and full only for all.
func Bar(used, limit int64, width int) string {
	filled := width
	if used < limit {
		filled = int(float64(width) * float64(used) / float64(limit))
		filled = min(filled, width-1)
		if used > 0 {
			filled = max(filled, 1)
		}
	}
	return Localize(strings.Repeat("█", filled) + strings.Repeat("░", width-filled))
}
