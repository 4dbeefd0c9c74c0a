package flat

import (
	"slices"
	"strings"
)

// Difference is what leads from one config to another, each list in key order.
type Difference struct {
	Added, Removed []Entry
	Changed        []Change
}

// Entry is a key with the canonical text of its value.
type Entry struct{ Key, Text string }

// Change is a key with the canonical texts of its two values.
type Change struct{ Key, From, To string }

// Diff compares two configs.
func Diff(from, to Config) Difference {
	var d Difference
	a, b := from.flat(), to.flat()
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(a) == 0 || len(b) > 0 && b[0].name < a[0].name:
			d.Added = append(d.Added, Entry{b[0].name, b[0].leafText()})
			b = b[1:]
		case len(b) == 0 || a[0].name < b[0].name:
			d.Removed = append(d.Removed, Entry{a[0].name, a[0].leafText()})
			a = a[1:]
		default:
			if was, is := a[0].leafText(), b[0].leafText(); was != is {
				d.Changed = append(d.Changed, Change{a[0].name, was, is})
			}
			a, b = a[1:], b[1:]
		}
	}
	return d
}

// Split divides a difference into the keys that chosen reports true for, and the others.
func (d Difference) Split(chosen func(key string) bool) (those, others Difference) {
	side := func(key string) *Difference {
		if chosen(key) {
			return &those
		}
		return &others
	}
	for _, e := range d.Added {
		to := side(e.Key)
		to.Added = append(to.Added, e)
	}
	for _, c := range d.Changed {
		to := side(c.Key)
		to.Changed = append(to.Changed, c)
	}
	for _, e := range d.Removed {
		to := side(e.Key)
		to.Removed = append(to.Removed, e)
	}
	return those, others
}

// Keys returns the keys: those that were added, changed, then removed.
func (d Difference) Keys() []string {
	keys := make([]string, 0, d.Len())
	for _, e := range d.Added {
		keys = append(keys, e.Key)
	}
	for _, c := range d.Changed {
		keys = append(keys, c.Key)
	}
	for _, e := range d.Removed {
		keys = append(keys, e.Key)
	}
	return keys
}

// Len is the number of keys.
func (d Difference) Len() int { return len(d.Added) + len(d.Changed) + len(d.Removed) }

// Empty reports whether the two configs are equal.
func (d Difference) Empty() bool { return d.Len() == 0 }

// MarshalJSON writes {"added": {key: value}, "changed": {key: {"from": value,
// "to": value}}, "removed": {key: value}}, keys in byte order.
func (d Difference) MarshalJSON() ([]byte, error) {
	changed := node{name: "changed"}
	for _, c := range d.Changed {
		values := []node{{name: "from", text: c.From}, {name: "to", text: c.To}}
		changed.items = append(changed.items, node{name: c.Key, items: values})
	}
	lists := []node{entries("added", d.Added), changed, entries("removed", d.Removed)}
	return node{items: lists}.appendTo(nil), nil
}

func entries(name string, list []Entry) node {
	n := node{name: name}
	for _, e := range list {
		n.items = append(n.items, node{name: e.Key, text: e.Text})
	}
	return n
}

// ByRecord returns the difference for people: changed enrichments become changes of records, or of their members, with
// keys such as enrichments[Pet.name].placeholder, which no config has. A record is identified by its id or its target,
// as in [Merge].
func (d Difference) ByRecord() Difference {
	i := slices.IndexFunc(d.Changed, func(c Change) bool { return c.Key == enrichments })
	if i < 0 {
		return d
	}
	from, errFrom := parse([]byte(d.Changed[i].From))
	to, errTo := parse([]byte(d.Changed[i].To))
	if errFrom != nil || errTo != nil {
		return d
	}
	for _, member := range []string{"id", "target"} {
		was, wasIDs, wasOK := recordsBy(member, &from)
		is, isIDs, isOK := recordsBy(member, &to)
		if !wasOK || !isOK {
			continue
		}
		all := Difference{
			Added: slices.Clone(d.Added), Changed: slices.Delete(slices.Clone(d.Changed), i, i+1),
			Removed: slices.Clone(d.Removed),
		}
		compared := slices.Compact(slices.Sorted(slices.Values(slices.Concat(wasIDs, isIDs))))
		for _, id := range compared {
			all.add(enrichments+"["+id+"]", memberOf(was, id), memberOf(is, id))
		}
		if all.Len() == d.Len()-1 { // only the order of records differs
			return d
		}
		all.sort()
		return all
	}
	return d
}

// add adds how a record, or a member of one, differs; nil: it does not exist.
func (d *Difference) add(key string, was, is *node) {
	switch {
	case was == nil && is == nil, same(was, is):
	case was == nil:
		d.Added = append(d.Added, Entry{key, is.leafText()})
	case is == nil:
		d.Removed = append(d.Removed, Entry{key, was.leafText()})
	case was.isObject() && is.isObject() && !was.reference && !is.reference:
		for _, name := range names(was, is) {
			d.add(key+"."+escape(name), memberOf(was, name), memberOf(is, name))
		}
	default:
		d.Changed = append(d.Changed, Change{key, was.leafText(), is.leafText()})
	}
}

func (d *Difference) sort() {
	byKey := func(a, b Entry) int { return strings.Compare(a.Key, b.Key) }
	slices.SortFunc(d.Added, byKey)
	slices.SortFunc(d.Removed, byKey)
	slices.SortFunc(d.Changed, func(a, b Change) int { return strings.Compare(a.Key, b.Key) })
}
