package cmdline

import (
	"fmt"
	"slices"
	"strings"
)

// Shortlist joins names with commas: at most that many of them, and how many more there are.
func Shortlist(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		names = append(slices.Clip(names[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
