package workspace

import (
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
)

// overlay returns the members of base, changed by those of over: objects are merged, null
// removes a member, and any other value replaces one.
func overlay(base, over []jsonedit.Member) []jsonedit.Member {
	changes := byName(over)
	var merged []jsonedit.Member
	for _, m := range base {
		o, changed := changes[m.Name]
		if !changed {
			merged = append(merged, m)
		} else if v := overlaid(&m.Value, &o); v != nil {
			merged = append(merged, jsonedit.Member{Name: m.Name, Value: *v})
		}
	}
	own := byName(base)
	for _, m := range over {
		if _, done := own[m.Name]; done {
			continue
		}
		if v := overlaid(nil, &m.Value); v != nil {
			merged = append(merged, jsonedit.Member{Name: m.Name, Value: *v})
		}
	}
	return merged
}

// overlaid returns the value of a member whose values are base and over, nil for an absent one.
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
	bases, overs, wants := byName(base), byName(over), byName(want)
	done := map[string]bool{}
	for _, members := range [][]jsonedit.Member{base, over, want} {
		for _, m := range members {
			if done[m.Name] {
				continue
			}
			done[m.Name] = true
			b, o := splitMember(find(bases, m.Name), find(overs, m.Name), find(wants, m.Name))
			if b != nil {
				newBase = append(newBase, jsonedit.Member{Name: m.Name, Value: *b})
			}
			if o != nil {
				newOver = append(newOver, jsonedit.Member{Name: m.Name, Value: *o})
			}
		}
	}
	return newBase, newOver
}

// splitMember is split for one member. A nil value is an absent one.
func splitMember(base, over, want *jsonedit.Value) (newBase, newOver *jsonedit.Value) {
	switch {
	case same(overlaid(base, over), want):
		return base, over
	case over == nil:
		return want, nil
	case want == nil && base == nil:
		return nil, nil
	case want == nil:
		return base, &jsonedit.Value{Text: []byte("null")}
	case isObject(over) && isObject(want) && (base == nil || isObject(base)):
		return splitObjects(base, over, want)
	case hasNull(want): // which would remove it
		return want, nil
	case same(base, want):
		return base, nil
	}
	return base, difference(base, want)
}

// splitObjects is splitMember for objects; base may be absent.
func splitObjects(base, over, want *jsonedit.Value) (newBase, newOver *jsonedit.Value) {
	b, o := split(membersOf(base), over.Members, want.Members)
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

// difference returns what makes want out of base, as an overlay.
func difference(base, want *jsonedit.Value) *jsonedit.Value {
	if base == nil || !isObject(base) || !isObject(want) {
		return want
	}
	var changes []jsonedit.Member
	wants := byName(want.Members)
	for _, m := range base.Members {
		w := find(wants, m.Name)
		switch {
		case w == nil:
			changes = append(changes, jsonedit.Member{Name: m.Name, Value: jsonedit.Value{Text: []byte("null")}})
		case !same(&m.Value, w):
			changes = append(changes, jsonedit.Member{Name: m.Name, Value: *difference(&m.Value, w)})
		}
	}
	bases := byName(base.Members)
	for _, m := range want.Members {
		if _, known := bases[m.Name]; !known {
			changes = append(changes, m)
		}
	}
	v := jsonedit.Object(changes)
	return &v
}

func byName(members []jsonedit.Member) map[string]jsonedit.Value {
	values := make(map[string]jsonedit.Value, len(members))
	for _, m := range members {
		values[m.Name] = m.Value
	}
	return values
}

func find(values map[string]jsonedit.Value, name string) *jsonedit.Value {
	if v, ok := values[name]; ok {
		return &v
	}
	return nil
}

func isNull(v *jsonedit.Value) bool   { return v.Text.Kind() == 'n' }
func isObject(v *jsonedit.Value) bool { return v.Text.Kind() == '{' }

// membersOf returns the members of an object, none of any other value.
func membersOf(v *jsonedit.Value) []jsonedit.Member {
	if v == nil || !isObject(v) {
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
	for _, m := range membersOf(v) {
		if hasNull(&m.Value) {
			return true
		}
	}
	return false
}
