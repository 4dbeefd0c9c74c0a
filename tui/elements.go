package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/flat"
)

var kinds = map[Role]struct{ sign, word string }{
	Added:   {"+", "added"},
	Changed: {"~", "changed"},
	Removed: {"-", "removed"},
}

type counts map[Role]int

// String writes the counts that are not zero.
func (c counts) String() string {
	var parts []string
	for kind := Added; kind <= Removed; kind++ {
		if n := c[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kinds[kind].word))
		}
	}
	if len(parts) == 0 {
		return "no difference"
	}
	return strings.Join(parts, ", ")
}

// Counts returns how many keys differ, such as: 2 added, 1 removed.
func Counts(d flat.Difference) string {
	n := counts{}
	for _, c := range d {
		n[RoleOf(c.Sign())]++
	}
	return n.String()
}

// Changes returns the counts that are not zero, such as: 2 added, 1 removed; "no difference" for none.
func Changes(added, changed, removed int) string {
	return counts{Added: added, Changed: changed, Removed: removed}.String()
}

// element is a part in which two values differ: an element of an array, or a line of a text.
type element struct {
	kind     Role
	index    int    // in the new value; that of a removed element in the former value
	from, to string // "" where the value has no such element
}

// elements compares two arrays element by element. It returns false for other values.
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

// compareLines compares two texts line by line. The index of the first line is 1. It returns
// false where neither text has a line break.
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

// compare returns the elements in which a and b differ. An element that is removed and one
// that is added at the same place are one changed element.
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
	for _, same := range common(a[start:endA], b[start:endB]) {
		nextA, nextB := start+same[0], start+same[1]
		found = append(found, gap(a[:nextA], b[:nextB], i, j)...)
		i, j = nextA+1, nextB+1
	}
	return append(found, gap(a[:endA], b[:endB], i, j)...)
}

// gap compares a[i:] with b[j:] place by place.
func gap(a, b []string, i, j int) []element {
	var found []element
	for ; i < len(a) && j < len(b); i, j = i+1, j+1 {
		if a[i] != b[j] {
			found = append(found, element{kind: Changed, index: j, from: a[i], to: b[j]})
		}
	}
	for ; i < len(a); i++ {
		found = append(found, element{kind: Removed, index: i, from: a[i]})
	}
	for ; j < len(b); j++ {
		found = append(found, element{kind: Added, index: j, to: b[j]})
	}
	return found
}

// common returns the indexes of a longest common subsequence, none if to find it takes too long.
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
