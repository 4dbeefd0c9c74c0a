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
		return m.eachRecord(path, mergedOrder(b.ids, my.ids, their.ids), b, my, their), true
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

// mergedOrder returns the ids of both sides: in the order of mine, or of theirs if only that
// side moved ids of base; then those that only the other side has.
func mergedOrder(base, mine, theirs []string) []string {
	moved := func(side []string) bool { return !slices.Equal(common(side, base), common(base, side)) }
	first, second := mine, theirs
	if moved(theirs) && !moved(mine) {
		first, second = theirs, mine
	}
	in := set(first)
	order := slices.Clone(first)
	for _, id := range second {
		if !in[id] {
			order = append(order, id)
		}
	}
	return order
}

// common returns the ids of list that are in other.
func common(list, other []string) []string {
	in := set(other)
	return slices.DeleteFunc(slices.Clone(list), func(id string) bool { return !in[id] })
}

func set(list []string) map[string]bool {
	in := make(map[string]bool, len(list))
	for _, id := range list {
		in[id] = true
	}
	return in
}
