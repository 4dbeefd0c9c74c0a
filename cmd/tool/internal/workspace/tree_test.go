package workspace_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A value of the random files is a literal (a string of JSON), an array or an object.
type (
	array  []any
	object []member
	member struct {
		name  string
		value any
	}
)

func (o object) find(name string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.name == name })
}

// literals are values as written, each with the spelling that a config has for it.
var literals = map[string]string{
	`1`: `1`, `1.0`: `1.0`, `1.00`: `1.00`, `-0`: `-0`, `1e400`: `1e400`, `9007199254740993`: `9007199254740993`,
	`true`: `true`, `false`: `false`, `null`: `null`, `""`: `""`, `"x"`: `"x"`, `"{,}"`: `"{,}"`,
	`"\u0041\/"`: `"A/"`, `"A/"`: `"A/"`, `"é😀"`: `"é😀"`, `"\ud83d\ude00"`: `"😀"`, `"😀"`: `"😀"`, `"a\nb"`: `"a\nb"`,
}

var literalTexts = sortedKeys(literals)

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

var names = []string{"a", "b", "c", "zz", "a.b", `back\slash`, `qu"ote`, "", "é", "project", "enrichments", "名",
	"settings"}

func randomLiteral(r *rand.Rand) string { return literalTexts[r.IntN(len(literalTexts))] }

func randomValue(r *rand.Rand, depth int) any {
	switch r.IntN(6) {
	case 0:
		a := array{}
		for range r.IntN(3) * depth {
			a = append(a, randomValue(r, depth-1))
		}
		return a
	case 1, 2:
		return randomObject(r, depth)
	default:
		return randomLiteral(r)
	}
}

func randomObject(r *rand.Rand, depth int) object {
	o := object{}
	if depth <= 0 {
		return o
	}
	for _, i := range r.Perm(len(names))[:r.IntN(6)] {
		o = append(o, member{names[i], randomValue(r, depth-1)})
	}
	return o
}

// randomRecords is what enrichments can be.
func randomRecords(r *rand.Rand) any {
	if r.IntN(2) == 0 {
		a := array{}
		for range r.IntN(3) {
			a = append(a, randomObject(r, 2))
		}
		return a
	}
	o := object{}
	for _, i := range r.Perm(len(names))[:r.IntN(3)] {
		o = append(o, member{names[i], randomObject(r, 2)})
	}
	return o
}

// randomSettings returns settings that client.json can hold.
func randomSettings(r *rand.Rand) object {
	o := randomObject(r, 4)
	if i := o.find("enrichments"); i >= 0 {
		o[i].value = randomRecords(r)
	}
	return o
}

// randomFile returns the content of a client.json, its enrichments at either place.
func randomFile(r *rand.Rand) object {
	settings := randomSettings(r)
	file := object{{"settings", settings}}
	if settings.find("enrichments") < 0 && r.IntN(2) == 0 {
		file = append(file, member{"enrichments", randomRecords(r)})
	}
	for _, extra := range []member{
		{"project", `"@acme/web"`}, {"api", `"@acme\/pets"`}, {"source", `"a.yaml"`}, {"$schema", `"x"`},
		{"more", randomValue(r, 3)},
	} {
		if r.IntN(2) == 0 {
			file = append(file, extra)
		}
	}
	r.Shuffle(len(file), func(i, j int) { file[i], file[j] = file[j], file[i] })
	return file
}

// settingsOf returns what a file's settings mean, its enrichments among them.
func settingsOf(file object) object {
	settings := slices.Clone(file[file.find("settings")].value.(object))
	if i := file.find("enrichments"); i >= 0 {
		settings = append(settings, file[i])
	}
	return settings
}

// changed returns v with a few random changes: values, members more, members less.
func changed(r *rand.Rand, v any, depth int) any {
	o, ok := v.(object)
	if !ok {
		if r.IntN(3) == 0 {
			return randomValue(r, depth)
		}
		return v
	}
	result := object{}
	for _, m := range o {
		if r.IntN(6) > 0 {
			result = append(result, member{m.name, changed(r, m.value, depth-1)})
		}
	}
	for _, name := range names {
		if r.IntN(12) == 0 && result.find(name) < 0 && depth > 0 {
			result = append(result, member{name, randomValue(r, depth-1)})
		}
	}
	r.Shuffle(len(result), func(i, j int) { result[i], result[j] = result[j], result[i] })
	return result
}

// changedSettings returns settings that differ a little, if at all.
func changedSettings(r *rand.Rand, settings object) object {
	result := changed(r, settings, 4).(object)
	if i := result.find("enrichments"); i >= 0 && r.IntN(2) == 0 {
		result[i].value = randomRecords(r)
	} else if i >= 0 && settings.find("enrichments") >= 0 {
		result[i].value = settings[settings.find("enrichments")].value
	} else if i >= 0 {
		result[i].value = array{}
	}
	return result
}

// canonical returns v as a config spells it.
func canonical(v any) any {
	switch v := v.(type) {
	case array:
		result := array{}
		for _, element := range v {
			result = append(result, canonical(element))
		}
		return result
	case object:
		result := object{}
		for _, m := range v {
			result = append(result, member{m.name, canonical(m.value)})
		}
		slices.SortFunc(result, func(a, b member) int { return strings.Compare(a.name, b.name) })
		return result
	default:
		return literals[v.(string)]
	}
}

func same(a, b any) bool { return layout{}.text(canonical(a)) == layout{}.text(canonical(b)) }

// merged is the tree that an edit of old to want leaves: what stays keeps its place
// and spelling, what is new comes last.
func merged(old, want any) any {
	o, isObject := old.(object)
	w, wantsObject := want.(object)
	switch {
	case isObject && wantsObject:
		result := object{}
		for _, m := range o {
			if i := w.find(m.name); i >= 0 {
				result = append(result, member{m.name, merged(m.value, w[i].value)})
			}
		}
		for _, m := range canonical(w).(object) {
			if o.find(m.name) < 0 {
				result = append(result, m)
			}
		}
		return result
	case same(old, want):
		return old
	}
	return canonical(want)
}

// layout is a way to write JSON. The zero layout writes no white space.
type layout struct {
	newline, unit string // no newline: all on one line
	colon, comma  string // what follows them
	bom, final    bool   // a byte order mark, a final newline

	// noise, if there is one, adds white space at any place that allows it.
	noise *rand.Rand
}

func (l layout) String() string {
	return fmt.Sprintf("newline %q, unit %q, colon %q, comma %q, bom %t, final %t, noise %t", l.newline, l.unit, l.colon,
		l.comma, l.bom, l.final, l.noise != nil)
}

func randomLayout(r *rand.Rand) layout {
	l := layout{bom: r.IntN(4) == 0, final: r.IntN(4) > 0}
	if r.IntN(2) == 0 {
		l.colon, l.comma = " ", " "
	}
	if r.IntN(4) > 0 {
		l.newline = []string{"\n", "\r\n"}[r.IntN(2)]
		l.unit = []string{"  ", "    ", "\t", " ", ""}[r.IntN(5)]
	}
	return l
}

func (l layout) file(o object) string {
	text := l.text(o)
	if l.bom {
		text = "\ufeff" + text
	}
	if l.final {
		text += "\n"
		if l.newline == "\r\n" {
			text = strings.TrimSuffix(text, "\n") + l.newline
		}
	}
	return text
}

func (l layout) text(v any) string {
	var b strings.Builder
	l.write(&b, v, l.newline)
	return b.String()
}

// write writes v, whose line starts with the last line of newline.
func (l layout) write(b *strings.Builder, v any, newline string) {
	inner := newline
	if newline != "" {
		inner += l.unit
	}
	list := func(brackets string, n int, element func(i int)) {
		b.WriteString(brackets[:1])
		for i := range n {
			if i > 0 {
				b.WriteString(l.space("") + ",")
				if newline == "" {
					b.WriteString(l.comma)
				}
			}
			b.WriteString(l.space(inner))
			element(i)
		}
		if n > 0 {
			b.WriteString(l.space(newline))
		} else {
			b.WriteString(l.space(""))
		}
		b.WriteString(brackets[1:])
	}
	switch v := v.(type) {
	case array:
		list("[]", len(v), func(i int) { l.write(b, v[i], inner) })
	case object:
		list("{}", len(v), func(i int) {
			name, _ := json.Marshal(v[i].name)
			b.WriteString(string(name) + l.space("") + ":" + l.colon + l.space(""))
			l.write(b, v[i].value, inner)
		})
	default:
		b.WriteString(v.(string))
	}
}

// space returns the white space for a gap, or any other when there is noise.
func (l layout) space(regular string) string {
	if l.noise == nil || l.noise.IntN(3) > 0 {
		return regular
	}
	var b strings.Builder
	for range l.noise.IntN(5) {
		b.WriteString([]string{" ", "  ", "\t", "\n", "\r\n", "\n  ", "\r"}[l.noise.IntN(7)])
	}
	return b.String()
}
