package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/flat"
)

// kind is what happens to a key or to an element of an array.
type kind int

const (
	added kind = iota
	changed
	removed
)

func (k kind) sign() string { return [...]string{"+", "~", "-"}[k] }
func (k kind) word() string { return [...]string{"added", "changed", "removed"}[k] }

// counts are how many keys or elements there are of each kind.
type counts [3]int

// String writes the counts that are not zero.
func (c counts) String() string {
	if c.total() == 0 {
		return "no difference"
	}
	var parts []string
	for k, n := range c {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind(k).word()))
		}
	}
	return strings.Join(parts, ", ")
}

func (c counts) total() int { return c[added] + c[changed] + c[removed] }

// Counts returns how many keys differ, such as: 2 added, 1 removed.
func Counts(d flat.Difference) string {
	return counts{added: len(d.Added), changed: len(d.Changed), removed: len(d.Removed)}.String()
}

// element is a part in which two values differ: an element of an array, or a line of a text.
type element struct {
	kind     kind
	index    int // of a removed one in the former value, else in the new one
	from, to string
}

// elements compares two values element by element. It returns false where they
// are not both arrays.
func elements(from, to string) ([]element, bool) {
	a, ok := array(from)
	if !ok {
		return nil, false
	}
	b, ok := array(to)
	if !ok {
		return nil, false
	}
	return compare(a, b), true
}

// array returns the texts of an array's elements.
func array(text string) ([]string, bool) {
	if !strings.HasPrefix(text, "[") {
		return nil, false
	}
	var raw []json.RawMessage
	if json.Unmarshal([]byte(text), &raw) != nil {
		return nil, false
	}
	all := make([]string, len(raw))
	for i, r := range raw {
		all[i] = string(r)
	}
	return all, true
}

// compareLines compares two texts line by line, the first of which is 1. It returns false where
// neither has a line break.
func compareLines(from, to string) ([]element, bool) {
	if !strings.Contains(from+to, "\n") {
		return nil, false
	}
	found := compare(splitLines(from), splitLines(to))
	for i := range found {
		found[i].index++
	}
	return found, true
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// maxTable bounds the work of finding what two arrays have in common. Arrays that
// differ in more places are compared place by place.
const maxTable = 1 << 20

// compare returns how a becomes b. What is removed and added at one place is
// changed there.
func compare(a, b []string) []element {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	var found []element
	i, j := start, start
	for _, same := range append(common(a[start:endA], b[start:endB]), [2]int{endA - start, endB - start}) {
		found = append(found, gap(a, b, i, start+same[0], j, start+same[1])...)
		i, j = start+same[0]+1, start+same[1]+1
	}
	return found
}

// gap compares a[i:endA] with b[j:endB], which have nothing in common.
func gap(a, b []string, i, endA, j, endB int) []element {
	var found []element
	for ; i < endA && j < endB; i, j = i+1, j+1 {
		if a[i] != b[j] {
			found = append(found, element{changed, j, a[i], b[j]})
		}
	}
	for ; i < endA; i++ {
		found = append(found, element{removed, i, a[i], ""})
	}
	for ; j < endB; j++ {
		found = append(found, element{added, j, "", b[j]})
	}
	return found
}

// common returns the indexes of a longest common subsequence, none where looking
// for it would take too long.
func common(a, b []string) [][2]int {
	if len(a)*len(b) > maxTable {
		return nil
	}
	// longest[i][j] is the length for a[i:] and b[j:].
	longest := make([][]int32, len(a)+1)
	for i := range longest {
		longest[i] = make([]int32, len(b)+1)
	}
	for i := range slices.Backward(a) {
		for j := range slices.Backward(b) {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var same [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			same = append(same, [2]int{i, j})
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return same
}
