package tree

import (
	"strings"
	"unicode/utf8"
)

// reserved lists the directories of version control and of the client. Programs run and
// obey the files in them, so no base file is stored or written there.
var reserved = []string{".git", ".hg", ".svn", ".tool"}

// Reserved returns the reserved directory that a segment of a path names on some file
// system, or "". NTFS drops trailing dots and spaces, ends a name
// at a colon and knows .git as git~1; HFS+ ignores some invisible characters; both ignore case.
func Reserved(segment string) string {
	if plain(segment) {
		return ""
	}
	name := fold(strings.Map(visible, segment))
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	for _, r := range reserved {
		if name == r || isShortName(name, r[1:]) {
			return r
		}
	}
	return ""
}

// ReservedIn returns the first reserved directory in a /-separated path, or "".
func ReservedIn(path string) string {
	for segment := range strings.SplitSeq(path, "/") {
		if r := Reserved(segment); r != "" {
			return r
		}
	}
	return ""
}

// isShortName reports whether name is stem, a tilde and a digit, as NTFS shortens names.
func isShortName(name, stem string) bool {
	digit, ok := strings.CutPrefix(name, stem+"~")
	return ok && len(digit) == 1 && digit[0] >= '0' && digit[0] <= '9'
}

// visible drops the characters that HFS+ ignores in names.
func visible(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
