package escape_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/tui/escape"
)

func TestLine_EscapesWhatATerminalActsOn(t *testing.T) {
	token := pat.New()
	for text, want := range map[string]string{
		"plain, ünïcode, 日本語 and 🎉": "plain, ünïcode, 日本語 and 🎉",
		"\x1b]0;title\x07":          `\x1b]0;title\a`,
		"\x1b]52;c;eA==\x1b\\":      `\x1b]52;c;eA==\x1b\`,
		"\u009b2J":                  `\u009b2J`,
		"\x9b2J":                    "\ufffd2J",
		"a\u202egnp.exe\u2066":      `a\u202egnp.exe\u2066`,
		"one\ntwo\ttwo\rone\x7f":    `one\ntwo\ttwo\rone\x7f`,
		"zero\u200bwidth":           `zero\u200bwidth`,
		"a token: " + token + ".":   "a token: " + token[:12] + "….",
	} {
		if got := escape.Line(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := escape.Text("one\n\ttwo\r\x1b"); got != "one\n\ttwo\\r\\x1b" {
		t.Errorf("several lines are shown as %q", got)
	}
}

func TestLogged_GivesTheRunnerOfAPipelineNoCommand(t *testing.T) {
	for line, want := range map[string]string{
		"::stop-commands::x":          `\x3a:stop-commands::x`,
		"  ::add-mask::x":             `  \x3a:add-mask::x`,
		"title ##[add-mask]x":         `title \x23#[add-mask]x`,
		"###[error]x":                 `#\x23#[error]x`,
		"##vso[task.setvariable x=y]": `\x23#vso[task.setvariable x=y]`,
		"a::b, ## c [d] and #[e]":     "a::b, ## c [d] and #[e]",
	} {
		if got := escape.Logged(line); got != want {
			t.Errorf("%q is logged as %q, want %q", line, got, want)
		}
	}
	document := `{"title":"##[add-mask]x","array":["#","##"]}`
	logged := escape.JSON(document)
	var was, is any
	if err := errors.Join(json.Unmarshal([]byte(document), &was), json.Unmarshal([]byte(logged), &is)); err != nil ||
		!reflect.DeepEqual(was, is) || strings.Contains(logged, "##[") {
		t.Errorf("%s is logged as %s: %v", document, logged, err)
	}
}

func FuzzText_IsSafe(f *testing.F) {
	f.Add("\x1b]0;x\x07 \u202e \x9b \n\t hubpat_abc")
	f.Fuzz(func(t *testing.T, text string) {
		shown := escape.Text(text)
		if !utf8.ValidString(shown) {
			t.Errorf("%q is not UTF-8", shown)
		}
		for _, r := range shown {
			if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 &&
				r <= 0x2069) {
				t.Errorf("%q has %U", shown, r)
			}
		}
		if line := escape.Line(text); strings.ContainsAny(line, "\n\t") {
			t.Errorf("%q is not one line", line)
		}
		if again := escape.Text(shown); again != shown {
			t.Errorf("%q is shown as %q", shown, again)
		}
	})
}
