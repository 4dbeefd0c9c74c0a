package workspace

import (
	"iter"

	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
)

// overlay returns the members of base, changed by those of over: objects are merged, null
// removes a member, and any other value replaces one.
func overlay(base, over []jsonedit.Member) []jsonedit.Member {
	var merged []jsonedit.Member
	for name, v := range together(base, over) {
		merged = add(merged, name, overlaid(v[0], v[1]))
	}
	return merged
}

// overlaid returns the value of a member whose values are base and over. A nil value is an
// absent one.
func overlaid(base, over *jsonedit.Value) *jsonedit.Value {
	switch {
	case over == nil:
		return base
	case isNull(over):
		return nil
	case isObject(over):
		v := jsonedit.Object(overlay(membersOf(base), over.Members))
		return &v
	}
	return over
}

// split returns base and over, changed so that their overlay is want: what over has is
// changed there, anything else in base. What need not change stays as it is.
func split(base, over, want []jsonedit.Member) (newBase, newOver []jsonedit.Member) {
	for name, v := range together(base, over, want) {
		b, o := splitMember(v[0], v[1], v[2])
		newBase, newOver = add(newBase, name, b), add(newOver, name, o)
	}
	return newBase, newOver
}

// splitMember is split for one member. A nil value is an absent one.
func splitMember(base, over, want *jsonedit.Value) (newBase, newOver *jsonedit.Value) {
	switch {
	case same(overlaid(base, over), want):
		return base, over
	case over == nil || base == nil && want == nil:
		return want, nil
	case want == nil:
		return base, &null
	case isObject(want) && (base == nil && isObject(over) || base != nil && isObject(base)):
		return splitObjects(base, over, want)
	case hasNull(want): // which would remove it
		return want, nil
	case same(base, want):
		return base, nil
	}
	return base, want
}

// splitObjects is splitMember for objects; base may be absent.
func splitObjects(base, over, want *jsonedit.Value) (newBase, newOver *jsonedit.Value) {
	overs := membersOf(over)
	if !isObject(over) { // it is in the place of every member
		for name := range together(membersOf(base), want.Members) {
			overs = add(overs, name, &null)
		}
	}
	b, o := split(membersOf(base), overs, want.Members)
	if len(b) > 0 || base != nil && len(base.Members) == 0 {
		v := jsonedit.Object(b)
		newBase = &v
	}
	if len(o) > 0 || newBase == nil {
		v := jsonedit.Object(o)
		newOver = &v
	}
	return newBase, newOver
}

// together yields each name in the lists, and its value in each of them, nil for none.
func together(lists ...[]jsonedit.Member) iter.Seq2[string, []*jsonedit.Value] {
	values := map[string][]*jsonedit.Value{}
	var names []string
	for i, members := range lists {
		for _, m := range members {
			if values[m.Name] == nil {
				values[m.Name] = make([]*jsonedit.Value, len(lists))
				names = append(names, m.Name)
			}
			values[m.Name][i] = &m.Value
		}
	}
	return func(yield func(string, []*jsonedit.Value) bool) {
		for _, name := range names {
			if !yield(name, values[name]) {
				return
			}
		}
	}
}

// add appends a member unless it is absent.
func add(members []jsonedit.Member, name string, v *jsonedit.Value) []jsonedit.Member {
	if v == nil {
		return members
	}
	return append(members, jsonedit.Member{Name: name, Value: *v})
}

var null = jsonedit.Value{Text: []byte("null")}

func isNull(v *jsonedit.Value) bool   { return v.Text.Kind() == 'n' }
func isObject(v *jsonedit.Value) bool { return v.Text.Kind() == '{' }

// membersOf returns the members of an object, none of any other value.
func membersOf(v *jsonedit.Value) []jsonedit.Member {
	if v == nil {
		return nil
	}
	return v.Members
}

func same(a, b *jsonedit.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return jsonedit.Equal(a.Text, b.Text)
}

// hasNull reports whether a value is null, or an object with a null at any depth.
func hasNull(v *jsonedit.Value) bool {
	if isNull(v) {
		return true
	}
	for _, m := range v.Members {
		if hasNull(&m.Value) {
			return true
		}
	}
	return false
}
