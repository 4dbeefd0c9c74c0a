package cmdline

import (
	"fmt"
	"slices"
	"strings"
)

// Shortlist joins at most limit names with commas, and says how many more there are.
func Shortlist(names []string, limit int) string {
	if more := len(names) - limit; more > 0 {
		names = append(slices.Clip(names[:limit]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
