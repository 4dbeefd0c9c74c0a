package description_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

const (
	tooManyValues = "the description has more than 500000 values, counting each use of a YAML alias"
	tooDeep       = "arrays and objects are nested more than 100 deep"
	tooMuchText   = "the description has more than 32 MiB of text, counting each use of a YAML alias"
)

// bomb returns YAML whose last anchor expands to width to the power of levels values.
func bomb(levels, width int) string {
	b := "openapi: 3.0.0\na0: &a0 [" + strings.Repeat("x,", width) + "]\n"
	for i := 1; i < levels; i++ {
		b += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), width))
	}
	return b
}

// Each of these would cost gigabytes or minutes without a limit of its own.
func TestParse_HostileTextsMeetALimit(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes a second")
	}
	for name, test := range map[string]struct{ text, want string }{
		"billion laughs": {bomb(9, 9), tooManyValues},
		"quadratic blow-up": {"openapi: 3.0.0\na: &a [" + strings.Repeat("x,", 20_000) + "]\nb: [" +
			strings.Repeat("*a,", 20_000) + "]", tooManyValues},
		"aliases in merges": {"openapi: 3.0.0\na: &a {" + repeat(5_000, "k%: 1") + "}\nb: [" +
			strings.Repeat("{<<: *a},", 5_000) + "]", tooManyValues},
		"aliases of a long text": {"openapi: 3.0.0\nx-a: &a " + strings.Repeat("a", 1<<20) + "\nx-b: [" +
			strings.Repeat("*a,", 100_000) + "]", tooMuchText},
		"aliases of a long name": {"openapi: 3.0.0\nx-a: &a " + strings.Repeat("a", 1<<20) + "\nx-b: [" +
			strings.Repeat("{*a : 1},", 100_000) + "]", tooMuchText},
		"merges of a long name": {"openapi: 3.0.0\nx-a: &a {? " + strings.Repeat("a", 1<<20) + " : 1}\nx-b: [" +
			strings.Repeat("{<<: *a},", 100_000) + "]", tooMuchText},
		"merges in merges": {"openapi: 3.0.0\na: " + nested(3_000, "{<<: ", "{}", "}"), tooDeep},
		"wide merges in merges": {"openapi: 3.0.0\na: " + nested(90, "{<<: ", "{"+repeat(20_000, "k%: 1")+"}", "}"),
			tooManyValues},
		"many values in JSON":    {`{"a": [` + strings.Repeat("1,", 600_000) + `1]}`, tooManyValues},
		"many values in YAML":    {"a: [" + strings.Repeat("1,", 600_000) + "1]", tooManyValues},
		"many marks in YAML":     {"a: {" + strings.Repeat("?,", 1_100_000) + "}", tooManyValues},
		"deep arrays in JSON":    {strings.Repeat("[", 100_000), "exceeded max depth"},
		"deep objects in JSON":   {strings.Repeat(`{"a":`, 100_000), "exceeded max depth"},
		"9,000 arrays in JSON":   {nested(9_000, "[", "", "]"), tooDeep},
		"deep arrays in YAML":    {"a: " + strings.Repeat("[", 100_000), tooDeep},
		"deep objects in YAML":   {"a: " + strings.Repeat("{a: ", 100_000), tooDeep},
		"deep sequences in YAML": {strings.Repeat("- ", 100_000), tooDeep},
		"deep names in YAML":     {strings.Repeat("? ", 100_000), tooDeep},
		"9,000 arrays in YAML":   {"a: " + nested(9_000, "[", "", "]"), tooDeep},
		"deep schema in JSON":    {schemas("3.0.0", `"A": `+nested(3_000, `{"items": `, "{}", "}")), tooDeep},
		"deep schema in YAML":    {"# \n" + schemas("3.0.0", `"A": `+nested(3_000, `{"items": `, "{}", "}")), tooDeep},
	} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			if got := refused(t, test.text); !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
			if got := allocated() - before; got > 512<<20 {
				t.Errorf("%d MiB were allocated", got>>20)
			}
		})
	}
}

// allocated returns the bytes allocated since the process began.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func TestParse_AllowsTheLimits(t *testing.T) {
	const around = 8 // values in the empty description
	for name, text := range map[string]string{
		"depth in JSON": doc("3.0.0", `"paths": {}, "x-a": `+nested(99, "[", "1", "]")),
		"depth in YAML": "# \n" + doc("3.0.0", `"paths": {}, "x-a": `+nested(99, "[", "1", "]")),
		"values":        doc("3.0.0", `"paths": {}, "x-a": [`+strings.Repeat("1,", 500_000-around)+"1]"),
		"variables": doc("3.0.0",
			`"paths": {}, "servers": [{"url": "`+strings.ReplaceAll(repeat(1_000, "{a%}"), ",", "")+`", "variables": {`+
				repeat(1_000, `"a%": {"default": "d"}`)+`}}]`),
		"a long text": doc("3.0.0", `"paths": {}, "x-a": "`+strings.Repeat("a, b: c [", 1<<20)+`"`),
		"a long block": "openapi: 3.0.0\npaths: {}\ninfo:\n  title: t\n  version: v\n  description: |\n" +
			strings.Repeat("    some words, and - others\n", 100_000),
		"aliases": "openapi: 3.0.0\npaths: {}\ninfo: &i {title: t, version: v}\nx-a: [" +
			strings.Repeat("*i,", 10_000) + "]",
		"deep values":    doc("3.0.0", `"paths": {}, "x-a": [`+strings.Repeat(nested(90, "[", "", "]")+",", 5_000)+`1]`),
		"deep schemas":   schemas("3.0.0", repeat(3_000, `"A%": `+nested(48, `{"items": `, "{}", `, "type": "array"}`))),
		"deep recursion": schemas("3.0.0", repeat(5_000, `"A%": {"items": {"$ref": "#/components/schemas/A%"}}`)),
		"many schemas":   schemas("3.0.0", repeat(150_000, `"A%": {}`)),
	} {
		t.Run(name, func(t *testing.T) { accepted(t, text) })
	}
	for name, text := range map[string]string{
		"depth in JSON": doc("3.0.0", `"paths": {}, "x-a": `+nested(100, "[", "1", "]")),
		"depth in YAML": "# \n" + doc("3.0.0", `"paths": {}, "x-a": `+nested(100, "[", "1", "]")),
		"values":        doc("3.0.0", `"paths": {}, "x-a": [`+strings.Repeat("1,", 500_000)+"1]"),
	} {
		t.Run(name+" and one more", func(t *testing.T) { refused(t, text) })
	}
}
