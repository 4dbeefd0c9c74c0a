package description_test

import (
	"regexp"
	"strings"
	"testing"
)

// unreadable are texts that the hub rejects, and why.
var unreadable = []struct{ name, text, detail string }{
	{"nothing", "", "the description is empty"},
	{"white space", " \n\t", "the description is empty"},
	{"only a comment", "# nothing\n", "the description is empty"},
	{"an array", `[1]`, "line 1, column 1: a description must be an object, not an array"},
	{"a page", "<!doctype html>", "line 1, column 1: a description must be an object, not a string"},
	{"not UTF-8", "{\"openapi\": \"3.0.0\",\n \"ä\xff\": 1}", "line 2, column 4: the text is not UTF-8"},
	{"UTF-16", "\xff\xfe{\x00}\x00", "line 1, column 1: the text is not UTF-8"},

	{"JSON cut short", `{"openapi": "3.0.0"`, "line 1, column 20: unexpected EOF"},
	{"JSON and more", `{"openapi": "3.0.0"} x`, "line 1, column 22: invalid character 'x' at start of value"},
	{"two JSON texts", `{"openapi": "3.0.0"} {}`, "line 1, column 21: unexpected text after the JSON value"},
	{"JSON member twice", "{\"openapi\": \"3.0.0\",\n\"info\": {\"a\": 1, \"a\": 2}}",
		"line 2, column 18: duplicate object member name at /info/a"},
	{"JSON with a comment", `{"openapi": "3.0.0" /* x */}`,
		"line 1, column 21: invalid character '/' after object value (expecting ',' or '}')"},

	{"YAML tab", "openapi: 3.0.0\n\tinfo: x", "line 2: found a tab character that violates indentation"},
	{"YAML member twice", "openapi: 3.0.0\ninfo: {}\n\"info\": {}", `line 3, column 1: duplicate member "info"`},
	{"two YAML documents", "openapi: 3.0.0\n---\nopenapi: 3.0.0",
		"line 2: a second YAML document begins, but a description is one document"},
	{"YAML and more", "openapi: 3.0.0\n--- [", "line 2: did not find expected node content"},
	{"YAML object as a name", "openapi: 3.0.0\n? {a: b}\n: c",
		"line 2, column 3: the name of a member must be a plain value"},
	{"YAML alias of nothing", "openapi: *v", "unknown anchor 'v' referenced"},
	{"YAML alias in itself", "openapi: 3.0.0\ninfo: &i {x: [*i]}",
		"line 2, column 15: the alias *i refers to a value that contains it"},
	{"YAML infinity", "openapi: 3.0.0\nx-a: .inf", `line 2, column 6: ".inf" is not a number in JSON`},
	{"YAML invalid number", "openapi: 3.0.0\nx-a: !!int x", `line 2, column 6: "x" is not a number`},
	{"YAML invalid boolean", "openapi: 3.0.0\nx-a: !!bool x", `line 2, column 6: "x" is not a boolean`},
	{"YAML tag", "openapi: 3.0.0\nx-a: !secret x", `line 2, column 6: the tag "!secret" is not accepted`},
	{"YAML tag directive", "%TAG ! tag:example.com:\n---\nopenapi: 3.0.0", "%TAG directives are not accepted"},
	{"YAML merge of a string", "openapi: 3.0.0\ninfo:\n  <<: x", "line 3, column 7: << merges objects, not a string"},
	{"YAML merge twice", "openapi: 3.0.0\ninfo:\n  <<: {a: b}\n  <<: {}", `line 4, column 3: duplicate member "<<"`},
}

func TestParse_RejectsWhatCannotBeRead(t *testing.T) {
	for _, test := range unreadable {
		t.Run(test.name, func(t *testing.T) {
			if got := refused(t, test.text); got != test.detail {
				t.Errorf("%q, want %q", got, test.detail)
			}
		})
	}
}

func TestParse_ReasonsAvoidParserJargon(t *testing.T) {
	jargon := regexp.MustCompile(`json:|yaml:|jsontext|unmarshal|openapi[23]\.|\bGo\b|0x[0-9a-f]{6}|\.$|\n`)
	for _, test := range unreadable {
		if reason := refused(t, test.text); jargon.MatchString(reason) || len(reason) > 300 {
			t.Errorf("%s: %q", test.name, reason)
		}
	}
}

// However long the names in a description are, what is said of it is short.
func TestParse_ReasonsAreShort(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for name, text := range map[string]string{
		"version":      `{"openapi": "` + long + `"}`,
		"JSON member":  `{"` + long + `": 1, "` + long + `": 2}`,
		"JSON":         `{"` + long + `": {"a": tru}}`,
		"anchor":       "a: *" + long,
		"alias":        "a: &" + long + " [*" + long + "]",
		"tag":          "a: !" + long + " b",
		"member twice": "? " + long + "\n: 1\n? " + long + "\n: 2\n",
	} {
		if reason := refused(t, text); len(reason) > 700 {
			t.Errorf("%s: the reason has %d bytes", name, len(reason))
		}
	}
}
