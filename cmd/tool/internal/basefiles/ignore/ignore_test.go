package ignore_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/basefiles/ignore"
)

// verdict asks about path as one who walks does: a directory above it that is
// left out decides.
func verdict(rules *ignore.Rules, path string, dir bool) *ignore.Rule {
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if rule := rules.Match(path[:i], true); rule != nil && !rule.Keeps {
			return rule
		}
	}
	return rules.Match(path, dir)
}

func leftOut(rules *ignore.Rules, path string) bool {
	path, dir := strings.CutSuffix(path, "/")
	rule := verdict(rules, path, dir)
	return rule != nil && !rule.Keeps
}

// cases are held against git too.
var cases = []struct {
	what, rules string
	out, kept   []string // a trailing slash means a directory
}{
	{"a name matches at any depth", "a.log",
		[]string{"a.log", "x/a.log", "x/y/a.log/", "a.log/x"}, []string{"ba.log", "a.logs", "x/a.log1"}},
	{"a leading slash anchors", "/dist",
		[]string{"dist", "dist/", "dist/x"}, []string{"x/dist", "dist2"}},
	{"a slash inside anchors", "docs/*.txt",
		[]string{"docs/a.txt"}, []string{"x/docs/a.txt", "docs/x/a.txt"}},
	{"a trailing slash means directories", "out/",
		[]string{"out/", "out/x", "x/out/", "x/out/y"}, []string{"out", "x/out"}},
	{"a star stays within an element", "a*z",
		[]string{"az", "abz", "x/a-z"}, []string{"a", "b/abzc", "abc/xyz"}},
	{"a star in a path stops at a slash", "/a/*/z",
		[]string{"a/b/z", "a/b/z/y"}, []string{"a/z", "a/b/c/z"}},
	{"a question mark is one byte but no slash", "a?c",
		[]string{"abc", "a?c"}, []string{"ac", "abbc", "a/c", "aéc"}},
	{"two stars and a slash lead anywhere", "**/b/c",
		[]string{"b/c", "a/b/c", "a/a/b/c"}, []string{"ab/c", "b/x/c"}},
	{"a slash and two stars mean all below", "a/**",
		[]string{"a/b", "a/b/c", "a/b/"}, []string{"a", "a/", "b/a/c"}},
	{"two stars between slashes mean any depth", "a/**/z",
		[]string{"a/z", "a/b/z", "a/b/c/z"}, []string{"az", "a/bz", "a/b/zz"}},
	{"two stars elsewhere are one", "x/a**z",
		[]string{"x/az", "x/abz"}, []string{"x/a/z", "x/a/b/z"}},
	{"two stars twice", "**/a/**/b",
		[]string{"a/b", "x/a/b", "x/a/y/z/b"}, []string{"b", "xa/b", "a/xb"}},
	{"more than two stars are two", "a/****/b/***",
		[]string{"a/b/c", "a/x/b/c/d"}, []string{"a/b", "ab/c"}},
	{"two stars alone match everything", "**", []string{"a", "a/b", "a/"}, nil},
	{"two stars and an escaped slash lead to it", `a/**\/b`,
		[]string{"a/x/b"}, []string{"a/b", "a/xb"}},
	{"an exclamation mark keeps again", "*.log\n!keep.log",
		[]string{"a.log", "x/a.log"}, []string{"keep.log", "x/keep.log"}},
	{"the last rule that matches decides", "!a\na\n!b\nb\n!b",
		[]string{"a"}, []string{"b"}},
	{"nothing below a directory that is left out is kept", "d/\n!d/keep",
		[]string{"d/", "d/keep", "d/x/keep"}, []string{"d", "keep"}},
	{"a directory kept again opens the way", "d/*\n!d/k/\nd/k/*\n!d/k/f",
		[]string{"d/x", "d/k/x"}, []string{"d/", "d/k/", "d/k/f"}},
	{"a hash begins a comment but for a backslash", "#a\n\\#b",
		[]string{"#b"}, []string{"#a", "a", `\#b`}},
	{"a backslash keeps an exclamation mark", "\\!a\n!!b",
		[]string{"!a"}, []string{"a", "!b"}},
	{"a backslash keeps a wildcard", `a\*b`,
		[]string{"a*b"}, []string{"axb", `a\*b`}},
	{"a backslash at the end matches nothing", `a\`, nil, []string{"a", `a\`}},
	{"spaces at the end are cut", "a  \nb\\  \nc\\\\ \nd\t",
		[]string{"a", "b ", `c\`, "d\t"}, []string{"a  ", "b", "b  ", `c\ `, "d"}},
	{"line ends of both kinds end a rule", "a\r\nb\r\nc\r",
		[]string{"a", "b", "c"}, []string{"a\r", "c\r"}},
	{"only one carriage return is cut", "a\r\r\n", []string{"a\r"}, []string{"a"}},
	{"a byte order mark is no part of the first rule", "\ufeffa\n\ufeffb",
		[]string{"a", "\ufeffb"}, []string{"\ufeffa", "b"}},
	{"empty rules match nothing", "\n!\n/\n//\n \n!/\r\n", nil, []string{"a", "a/", "a/b"}},
	{"a zero byte ends a rule", "a\x00b\n\x00c", []string{"a"}, []string{"ab", "b", "c"}},
	{"a class matches one of its bytes", "[ab]c", []string{"ac", "bc"}, []string{"c", "abc", "cc"}},
	{"a class may be negated", "[!a]c\n[^x]d",
		[]string{"bc", "]c", "ad"}, []string{"ac", "xd", "c"}},
	{"a class has ranges", "x[a-c-e]",
		[]string{"xa", "xb", "xc", "x-", "xe"}, []string{"xd", "x"}},
	{"a bracket first in a class is itself", "[]-a]x\n[!]]y",
		[]string{"]x", "^x", "ax", "ay"}, []string{"bx", "]y", "-x"}},
	{"a class ends in a hyphen", "[a-]x", []string{"ax", "-x"}, []string{"bx"}},
	{"a class escapes", `[\]\-\\]x` + "\n" + `[a-\c]y`,
		[]string{"]x", "-x", `\x`, "by"}, []string{"ax", "dy"}},
	{"a class never matches a slash", "a[/-0]b\na[!x]c",
		[]string{"a0b", "ayc"}, []string{"a/b", "a/c"}},
	{"an unterminated class matches nothing", "[ab\na[\nb[a-", nil, []string{"a", "[ab", "a[", "b[a-"}},
	{"a named class", "[[:digit:]x]a\n[[:upper:][:punct:]]b",
		[]string{"1a", "xa", "Qb", "-b"}, []string{"ya", "1b"}},
	{"an unknown named class matches nothing", "[[:foo:]a]\n[[:alpha:", nil, []string{"a", ":", "["}},
	{"a named class without its end is a class", "[[:a]b]\n[[:]c",
		[]string{"[b]", ":b]", "ab]", "[c", ":c"}, []string{"b]", "c"}},
	{"names are bytes", "é\n[é]x", []string{"é"}, []string{"éx", "e\u0301"}},
}

func TestMatch_Verdicts(t *testing.T) {
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			rules := ignore.Compile([]byte(c.rules), "test")
			for _, path := range c.out {
				if !leftOut(rules, path) {
					t.Errorf("%q keeps %q", c.rules, path)
				}
			}
			for _, path := range c.kept {
				if leftOut(rules, path) {
					t.Errorf("%q leaves %q out", c.rules, path)
				}
			}
		})
	}
}

func TestRule_KnowsItsLine(t *testing.T) {
	rules := ignore.Compile([]byte("\ufeff# first\r\n\r\n*.tmp  \r\n\n!keep.tmp\n"), ".toolignore")
	for path, want := range map[string]ignore.Rule{
		"a.tmp":    {Pattern: "*.tmp", Source: ".toolignore", Line: 3},
		"keep.tmp": {Pattern: "!keep.tmp", Source: ".toolignore", Line: 5, Keeps: true},
	} {
		got := rules.Match(path, false)
		if got == nil || got.Pattern != want.Pattern || got.Source != want.Source || got.Line != want.Line ||
			got.Keeps != want.Keeps {
			t.Errorf("Match(%q) = %+v, want %+v", path, got, want)
		}
	}
	if got := rules.Match("a.go", false); got != nil {
		t.Errorf("Match of nothing = %+v", got)
	}
}

// Each of these takes time exponential in its length where every star tries
// every length for itself: longer than any test may run.
func TestMatch_HostilePatternIsCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes a second")
	}
	for _, pattern := range []string{
		strings.Repeat("a*", 400) + "b?",
		strings.Repeat("**/a", 200) + "/**/b?",
		strings.Repeat("**/*a*/", 150) + "b?",
		strings.Repeat("?*", 400) + "[b]",
		strings.Repeat("**/", 100_000) + "b?/x?",
		strings.Repeat("*?", 500_000),
		strings.Repeat("[[:alpha:]a-z]*", 300) + "?b?",
	} {
		rules := ignore.Compile([]byte(pattern), "test")
		for _, path := range []string{strings.Repeat("a", 1000), strings.Repeat("a/", 500) + "a"} {
			rules.Match(path, false)
		}
	}
}

func FuzzMatch(f *testing.F) {
	for _, c := range cases {
		f.Add(c.rules, "a/b.log")
	}
	f.Add("[[:alpha:]]**/\\[[!]-a]\n", "x")
	f.Fuzz(func(t *testing.T, patterns, path string) {
		rules := ignore.Compile([]byte(patterns), "fuzz")
		file, dir := rules.Match(path, false), rules.Match(path, true)
		if file != nil && (dir == nil || dir.Line < file.Line) {
			t.Errorf("%q: a file %q matches line %d, a directory an earlier one or none", patterns, path, file.Line)
		}
		lines := strings.Split(strings.TrimPrefix(patterns, "\ufeff"), "\n")
		if dir != nil && !strings.HasPrefix(lines[dir.Line-1], dir.Pattern) {
			t.Errorf("line %d of %q does not begin with its pattern %q", dir.Line, patterns, dir.Pattern)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	rules := ignore.Compile([]byte(`.git
node_modules/
/dist/
.DS_Store
.next/
*.log
*.tsbuildinfo
.env
.env.*
!.env.example
*.pem
id_rsa*
.npmrc
src/**/*.test.ts
**/tmp/*.bak
*.py[co]
*.tfstate*
`), "test")
	for b.Loop() {
		rules.Match("src/area03/feature17/part4/file1234.ts", false)
	}
}
