package flat

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Side is one of the two sides of a merge.
type Side int

// The sides of a merge.
const (
	Mine Side = iota
	Theirs
)

// Conflict is what both sides of a merge changed differently, with the canonical texts of
// its values; "" where there is none.
//
// Its key is that of one leaf, except in two cases. Where one side has a value and the other
// has keys below it, the key is that of the value, and the keys below it are shown as an
// object. Where enrichments are merged record by record, a record has the key that it would
// have in an object of records.
type Conflict struct{ Key, Base, Mine, Theirs string }

// Conflicts are the conflicts of a merge.
type Conflicts []Conflict

// MarshalJSON writes {key: {"base": value, "mine": value, "theirs": value}}, without absent values.
func (c Conflicts) MarshalJSON() ([]byte, error) {
	var all node
	for _, conflict := range c {
		n := node{name: conflict.Key}
		for _, v := range []node{
			{name: "base", text: conflict.Base}, {name: "mine", text: conflict.Mine},
			{name: "theirs", text: conflict.Theirs},
		} {
			if v.text != "" {
				n.items = append(n.items, v)
			}
		}
		all.items = append(all.items, n)
	}
	return all.appendTo(nil), nil
}

// Merge applies to the config base what both mine and theirs changed in it, key by key:
// what only one side changed is as that side has it. For what both changed differently,
// choose is called in turn, and returns the side to take; nil takes mine. Without a base,
// everything that differs is a conflict.
//
// An array is one value, except for enrichments: where each record has a unique id, or a
// unique target, each record is a value. If both sides moved records, they are in mine's order.
func Merge(base *Config, mine, theirs Config, choose func(Conflict) Side) (Config, Conflicts) {
	m := merger{known: base != nil, choose: choose}
	var from *node
	if m.known {
		from = &base.settings
	}
	merged := m.members(nil, from, &mine.settings, &theirs.settings)
	if merged == nil {
		return Config{}, m.conflicts
	}
	merged.reference = false
	return Config{*merged}, m.conflicts
}

// merger is one merge. A nil node is an absent value.
type merger struct {
	known     bool // there is a base
	records   bool // what is merged are records, each of which is one value
	choose    func(Conflict) Side
	conflicts Conflicts
}

func (m *merger) merge(path []string, base, mine, theirs *node) *node {
	switch {
	case same(mine, theirs):
		return mine
	case m.known && same(base, theirs):
		return mine
	case m.known && same(base, mine):
		return theirs
	case m.records:
	case !holdsLeaf(mine) && !holdsLeaf(theirs):
		return m.members(path, base, mine, theirs)
	case holdsLeaf(mine) && holdsLeaf(theirs):
		if merged, ok := m.mergeRecords(path, base, mine, theirs); ok {
			return merged
		}
	case m.known && !holdsLeaf(base):
		// One side put a value where there were keys at most. It can stay if nothing remains
		// below it of the keys of the other side.
		if holdsLeaf(mine) && m.nothingLeft(path, base, nil, theirs) {
			return mine
		}
		if holdsLeaf(theirs) && m.nothingLeft(path, base, mine, nil) {
			return theirs
		}
	}
	return m.conflict(path, base, mine, theirs)
}

// nothingLeft reports whether a merge leaves no key and no conflict.
func (m *merger) nothingLeft(path []string, base, mine, theirs *node) bool {
	try := merger{known: m.known}
	return try.members(path, base, mine, theirs) == nil && len(try.conflicts) == 0
}

// members merges objects with members member by member. Leaves have no members.
func (m *merger) members(path []string, base, mine, theirs *node) *node {
	var merged []node
	for _, name := range names(base, mine, theirs) {
		at := append(slices.Clip(path), name)
		if v := m.merge(at, memberOf(base, name), memberOf(mine, name), memberOf(theirs, name)); v != nil {
			item := *v
			item.name = name
			merged = append(merged, item)
		}
	}
	if merged == nil {
		return nil
	}
	n := object(merged)
	return &n
}

func (m *merger) conflict(path []string, base, mine, theirs *node) *node {
	c := Conflict{Key(path...), textOf(base), textOf(mine), textOf(theirs)}
	m.conflicts = append(m.conflicts, c)
	if m.choose != nil && m.choose(c) == Theirs {
		return theirs
	}
	return mine
}

// names lists the names of the members of objects, sorted by key.
func names(objects ...*node) []string {
	var all []string
	for _, o := range objects {
		if holdsLeaf(o) || o == nil {
			continue
		}
		for _, item := range o.items {
			all = append(all, item.name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func memberOf(n *node, name string) *node {
	if n == nil {
		return nil
	}
	v, ok := n.member(name)
	if !ok {
		return nil
	}
	return &v
}

func holdsLeaf(n *node) bool { return n != nil && n.isLeaf() }

func textOf(n *node) string {
	if n == nil {
		return ""
	}
	return n.leafText()
}

// same reports whether two values are equal, or both absent.
func same(a, b *node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.equal(*b)
}

func (n node) equal(o node) bool {
	return n.text == o.text && n.array == o.array && slices.EqualFunc(n.items, o.items, func(a, b node) bool {
		return (n.array || a.name == b.name) && a.equal(b)
	})
}

// mergeRecords merges enrichments record by record, as members of an object that are named by what
// identifies them. It returns false where that is not possible, or where the values at path are no
// enrichments.
func (m *merger) mergeRecords(path []string, base, mine, theirs *node) (*node, bool) {
	if len(path) != 1 || path[0] != enrichments {
		return nil, false
	}
	for _, member := range []string{"id", "target"} {
		b, baseIDs, baseOK := recordsBy(member, base)
		my, myIDs, myOK := recordsBy(member, mine)
		their, theirIDs, theirOK := recordsBy(member, theirs)
		if !baseOK || !myOK || !theirOK {
			continue
		}
		m.records = true
		merged := m.members(path, b, my, their)
		m.records = false
		list := &node{array: true}
		for _, id := range mergedOrder(baseIDs, myIDs, theirIDs) {
			if record := memberOf(merged, id); record != nil {
				list.items = append(list.items, *record)
			}
		}
		return list, true
	}
	return nil, false
}

// recordsBy returns the elements of an array as members that are named by the text of a member of
// theirs, and these names in their order. It reports whether each element is an object that has
// this member, with another text. An absent array has no elements.
func recordsBy(member string, array *node) (records *node, ids []string, ok bool) {
	if array == nil {
		return nil, nil, true
	}
	records = &node{}
	for _, record := range array.items {
		if record.name, ok = identity(record, member); !ok {
			return nil, nil, false
		}
		records.items, ids = append(records.items, record), append(ids, record.name)
	}
	return records, ids, array.array && sortMembers(records.items) == nil
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
