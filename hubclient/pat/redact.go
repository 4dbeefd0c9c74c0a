package pat

import (
	"strings"
)

// redacted replaces what looks like a token but is not one.
const redacted = "(redacted)"

// mark is a part of every token that is rarely found in other text. Without its
// first letters, as a careless copy has it, a token is still one.
const mark = "pat_"

// leastSecret is how many characters behind mark are taken for a cut or mistyped
// token, though it does not start like one.
const leastSecret = 20

// Redact returns text with at most the first 12 characters of each token in it,
// and nothing of what a mistyped or cut one still has.
func Redact(text string) string {
	var b strings.Builder
	done := 0
	for from := 0; ; {
		at := indexFold(text[from:], mark)
		if at < 0 {
			break
		}
		at += from
		start, end := at, at+len(mark)
		for start > from && isWord(text[start-1]) {
			start--
		}
		for end < len(text) && isWord(text[end]) {
			end++
		}
		word := text[start:end]
		if shorter := redactWord(word, at-start); shorter != word {
			b.WriteString(text[done:start])
			b.WriteString(shorter)
			done = end
		}
		from = end
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// redactWord redacts a word that has mark at an offset.
func redactWord(word string, at int) string {
	first := at + len(mark) - len(prefix) // where the prefix of a token would start
	if i := Index([]byte(word)); i >= 0 {
		return word[i:i+shown] + "…"
	}
	hasPrefix := first >= 0 && strings.EqualFold(word[first:first+len(prefix)], prefix)
	secret := word[at+len(mark):]
	switch {
	case hasPrefix && (secret == "" || len(word)-first == shown): // the name of the form, or what Shown returns
		return word
	case hasPrefix:
		return word[:first] + redacted
	case len(secret) >= leastSecret:
		return redacted
	}
	return word
}

// isWord reports whether c can be in a token, or be mistyped into one.
func isWord(c byte) bool { return strings.IndexByte(alphabet, c) >= 0 || c == '_' || c == '-' }

// indexFold returns the offset of the first part in text, in capitals or not, or -1.
func indexFold(text, part string) int {
	for i := 0; i+len(part) <= len(text); i++ {
		if c := text[i] | 0x20; c == part[0] && strings.EqualFold(text[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}
