package flat

import (
	"slices"
	"strings"
)

// Difference is what leads from one config to another, in key order.
type Difference []Change

// Change is a key with the canonical texts of its two values, "" where there is none.
type Change struct{ Key, From, To string }

// Sign returns + if the key is added, - if it is removed, and ~ if its value is changed.
func (c Change) Sign() string {
	switch "" {
	case c.From:
		return "+"
	case c.To:
		return "-"
	}
	return "~"
}

// Diff compares two configs.
func Diff(from, to Config) Difference {
	var d Difference
	a, b := from.flat(), to.flat()
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(a) == 0 || len(b) > 0 && b[0].name < a[0].name:
			d = append(d, Change{b[0].name, "", b[0].leafText()})
			b = b[1:]
		case len(b) == 0 || a[0].name < b[0].name:
			d = append(d, Change{a[0].name, a[0].leafText(), ""})
			a = a[1:]
		default:
			if was, is := a[0].leafText(), b[0].leafText(); was != is {
				d = append(d, Change{a[0].name, was, is})
			}
			a, b = a[1:], b[1:]
		}
	}
	return d
}

// Empty reports whether the two configs are equal.
func (d Difference) Empty() bool { return len(d) == 0 }

// MarshalJSON writes {"added": {key: value}, "changed": {key: {"from": value,
// "to": value}}, "removed": {key: value}}, keys in byte order.
func (d Difference) MarshalJSON() ([]byte, error) {
	added, changed, removed := node{name: "added"}, node{name: "changed"}, node{name: "removed"}
	for _, c := range d {
		switch c.Sign() {
		case "+":
			added.items = append(added.items, node{name: c.Key, text: c.To})
		case "-":
			removed.items = append(removed.items, node{name: c.Key, text: c.From})
		default:
			values := []node{{name: "from", text: c.From}, {name: "to", text: c.To}}
			changed.items = append(changed.items, node{name: c.Key, items: values})
		}
	}
	return node{items: []node{added, changed, removed}}.appendTo(nil), nil
}

// ByRecord returns the difference for people: changed enrichments become changes of records, or of their members, with
// keys such as enrichments[Pet.name].placeholder, which no config has. A record is identified by its id or its target,
// as in [Merge].
func (d Difference) ByRecord() Difference {
	i := slices.IndexFunc(d, func(c Change) bool { return c.Key == enrichments && c.Sign() == "~" })
	if i < 0 {
		return d
	}
	from, _ := parse([]byte(d[i].From)) // a text that is not JSON has no records
	to, _ := parse([]byte(d[i].To))
	for _, member := range []string{"id", "target"} {
		was, wasIDs, wasOK := recordsBy(member, &from)
		is, isIDs, isOK := recordsBy(member, &to)
		if !wasOK || !isOK {
			continue
		}
		all := slices.Delete(slices.Clone(d), i, i+1)
		compared := slices.Compact(slices.Sorted(slices.Values(slices.Concat(wasIDs, isIDs))))
		for _, id := range compared {
			all.add(enrichments+"["+id+"]", memberOf(was, id), memberOf(is, id))
		}
		if len(all) == len(d)-1 { // only the order of records differs
			return d
		}
		slices.SortFunc(all, func(a, b Change) int { return strings.Compare(a.Key, b.Key) })
		return all
	}
	return d
}

// add adds how a record, or a member of one, differs; nil: it does not exist.
func (d *Difference) add(key string, was, is *node) {
	switch {
	case same(was, is):
	case was != nil && is != nil && was.isObject() && is.isObject() && !was.reference && !is.reference:
		for _, name := range names(was, is) {
			d.add(key+"."+escape(name), memberOf(was, name), memberOf(is, name))
		}
	default:
		*d = append(*d, Change{key, textOf(was), textOf(is)})
	}
}
