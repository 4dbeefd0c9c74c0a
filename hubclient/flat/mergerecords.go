package flat

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// records are enrichments by what identifies them, and in their order.
type records struct {
	ids  []string
	byID map[string]*node
}

// enrichments merges enrichments record by record. It returns false where that is not
// possible, or where the values at path are no enrichments.
func (m *merger) enrichments(path []string, base, mine, theirs *node) (*node, bool) {
	if len(path) != 1 || path[0] != "enrichments" {
		return nil, false
	}
	for _, member := range []string{"id", "target"} {
		b, known := recordsBy(member, base)
		my, mineOK := recordsBy(member, mine)
		their, theirsOK := recordsBy(member, theirs)
		if !mineOK || !theirsOK || base != nil && !known {
			continue
		}
		order, ok := mergedOrder(b.ids, my.ids, their.ids)
		if !ok {
			return nil, false
		}
		return m.eachRecord(path, order, b, my, their), true
	}
	return nil, false
}

// eachRecord merges records, each as one value. Conflicts come in the order of their keys.
func (m *merger) eachRecord(path, order []string, base, mine, theirs records) *node {
	merged := map[string]*node{}
	for _, id := range slices.Sorted(slices.Values(order)) {
		b, my, their := base.byID[id], mine.byID[id], theirs.byID[id]
		switch {
		case same(my, their) || m.known && same(b, their):
			merged[id] = my
		case m.known && same(b, my):
			merged[id] = their
		default:
			merged[id] = m.conflict(append(slices.Clip(path), id), b, my, their)
		}
	}
	list := &node{array: true}
	for _, id := range order {
		if record := merged[id]; record != nil {
			list.items = append(list.items, *record)
		}
	}
	return list
}

// recordsBy returns the elements of an array by the texts of a member, and whether each
// element is an object that has it, with another text. An absent array has no elements.
func recordsBy(member string, array *node) (records, bool) {
	r := records{byID: map[string]*node{}}
	if array == nil {
		return r, true
	}
	if !array.array {
		return r, false
	}
	for i := range array.items {
		id, ok := identity(array.items[i], member)
		if _, twice := r.byID[id]; !ok || twice {
			return r, false
		}
		r.ids = append(r.ids, id)
		r.byID[id] = &array.items[i]
	}
	return r, true
}

// identity returns the text of a member that is a string or a number.
func identity(record node, member string) (string, bool) {
	v, ok := record.member(member)
	if !ok || v.text == "" {
		return "", false
	}
	switch jsontext.Value(v.text).Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, v.text)
		return string(text), err == nil
	case '0':
		return v.text, true
	}
	return "", false
}

// mergedOrder returns all ids of two lists in an order that keeps to both lists; where only
// one side moved ids of base, to the list of that side. Otherwise there is no such order.
func mergedOrder(base, mine, theirs []string) ([]string, bool) {
	inMine, inTheirs := common(mine, theirs), common(theirs, mine)
	if slices.Equal(inMine, inTheirs) {
		return interleaved(mine, theirs, inMine), true
	}
	was := common(common(base, mine), theirs)
	mineMoved := !slices.Equal(common(inMine, base), was)
	theirsMoved := !slices.Equal(common(inTheirs, base), was)
	switch {
	case mineMoved && !theirsMoved:
		return inserted(mine, theirs), true
	case theirsMoved && !mineMoved:
		return inserted(theirs, mine), true
	}
	return nil, false
}

// common returns the ids of list that are in other.
func common(list, other []string) []string {
	in := set(other)
	var both []string
	for _, id := range list {
		if in[id] {
			both = append(both, id)
		}
	}
	return both
}

func set(list []string) map[string]bool {
	in := make(map[string]bool, len(list))
	for _, id := range list {
		in[id] = true
	}
	return in
}

// interleaved merges two lists that have the ids in both of them in the same order. Where
// each has ids of its own at one point, those with the lower first id come first.
func interleaved(a, b, both []string) []string {
	var all []string
	for i := 0; i <= len(both); i++ {
		endA, endB := len(a), len(b)
		if i < len(both) {
			endA, endB = slices.Index(a, both[i]), slices.Index(b, both[i])
		}
		first, second := a[:endA], b[:endB]
		if len(first) > 0 && len(second) > 0 && second[0] < first[0] {
			first, second = second, first
		}
		all = append(append(all, first...), second...)
		if i < len(both) {
			all = append(all, both[i])
			a, b = a[endA+1:], b[endB+1:]
		}
	}
	return all
}

// inserted returns list with the ids that only other has, each after those that are before
// it there.
func inserted(list, other []string) []string {
	in := set(list)
	var first []string
	after := map[string][]string{}
	last := ""
	for i, id := range other {
		switch {
		case in[id]:
			last = id
		case i == len(first):
			first = append(first, id)
		default:
			after[last] = append(after[last], id)
		}
	}
	all := first
	for _, id := range list {
		all = append(append(all, id), after[id]...)
	}
	return all
}
