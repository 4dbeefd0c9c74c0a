// Package escape makes text safe to show on a terminal. Names, descriptions and
// settings come from hubs, cloned repositories and the environment: none of them
// may move the cursor, set the title or the clipboard, reverse the direction of
// writing, or show a whole token.
//
// Everything that tool prints goes through it, apart from what tui and prompts
// draw themselves.
package escape

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/tree"
)

// Rune returns a character as it is shown: one that a terminal acts on, or does not show, as an escape.
func Rune(r rune) string {
	if r >= ' ' && r < 0x7f || strconv.IsPrint(r) {
		return string(r)
	}
	return strings.Trim(strconv.QuoteRuneToASCII(r), "'")
}

// Line returns text as it is shown in one line, without whole tokens.
func Line(text string) string { return escaped(text, "") }

// Text returns text as it is shown in several lines: line breaks and tabs stay.
func Text(text string) string { return escaped(text, "\n\t") }

// Commands that the runner of a pipeline reads from its log: :: at the beginning of a line
// (GitHub, Gitea, Forgejo), and ##[ (GitHub) or ##vso[ (Azure) anywhere.
// They are compiled when they are first needed: at most starts of the program they are not.
var (
	lineCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s*):(:)`) })
	anyCommand  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`#(#[a-z]*\[)`) })
)

// Logged returns a line of Line for the log of a pipeline, whose runner finds no command in it.
func Logged(line string) string {
	return anyCommand().ReplaceAllString(lineCommand().ReplaceAllString(line, `${1}\x3a$2`), `\x23$1`)
}

// JSON returns a JSON document with escapes for the characters that a terminal, or the runner
// of a pipeline, acts on. In JSON such characters are only within strings, where escapes are
// allowed. Tokens stay, because hub token create prints one.
func JSON(document string) string {
	document = anyCommand().ReplaceAllString(document, `\u0023$1`)
	if strings.IndexFunc(document, tree.Unprintable) < 0 {
		return document
	}
	var b strings.Builder
	for _, r := range document {
		if tree.Unprintable(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escaped returns text without whole tokens and with escapes, but for the characters in kept.
func escaped(text, kept string) string {
	text = pat.Redact(text)
	unsafe := func(r rune) bool {
		if r < utf8.RuneSelf {
			return (r < ' ' || r == 0x7f) && !strings.ContainsRune(kept, r)
		}
		return r == utf8.RuneError || !strconv.IsPrint(r)
	}
	if !strings.ContainsFunc(text, unsafe) {
		return text
	}
	var b strings.Builder
	for _, r := range text { // bytes that are not UTF-8 become U+FFFD
		if strings.ContainsRune(kept, r) {
			b.WriteRune(r)
		} else {
			b.WriteString(Rune(r))
		}
	}
	return b.String()
}
