package cmdline

import (
	"fmt"
	"slices"
	"strings"
)

// Shortlist joins at most limit names with commas, and says how many more there are: all is how many, of which names
// may be the first.
func Shortlist(names []string, limit, all int) string {
	names = slices.Clip(names[:min(len(names), limit)])
	if more := all - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
