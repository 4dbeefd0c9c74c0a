package tree

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// MaxPath is the greatest length of a path, in bytes.
const MaxPath = 1024

// PathError says why a path cannot be in a tree.
type PathError struct{ Path, Why string }

func (e *PathError) Error() string { return fmt.Sprintf("path %q: %s", e.Path, e.Why) }

// CheckPath returns a *PathError unless path can name a file of a tree: relative,
// /-separated, UTF-8 in NFC, at most [MaxPath] bytes, without empty, . or ..
// segment, backslash, control or bidirectional character, and without a segment
// that is [Reserved].
func CheckPath(path string) error {
	if plain(path) {
		return nil
	}
	bad := func(why string) error { return &PathError{path, why} }
	switch {
	case path == "":
		return bad("it is empty")
	case len(path) > MaxPath:
		return bad(fmt.Sprintf("it is longer than %d bytes", MaxPath))
	case !utf8.ValidString(path):
		return bad("it is not UTF-8")
	case path[0] == '/':
		return bad("it is absolute")
	case strings.Contains(path, `\`):
		return bad("it contains a backslash")
	case strings.ContainsFunc(path, Unprintable):
		return bad("it contains a control or bidirectional character")
	case !norm.NFC.IsNormalString(path):
		return bad("it is not in Unicode's NFC form")
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return bad(fmt.Sprintf("it has the segment %q", segment))
		}
	}
	if name := ReservedIn(path); name != "" {
		return bad("it is in " + name + ", whose files are never uploaded")
	}
	return nil
}

// plain is a fast check that nearly all valid paths pass: printable ASCII, and each
// segment starts with a letter, digit or underscore.
func plain(path string) bool {
	start := true
	for i := range len(path) {
		c := path[i]
		switch {
		case start && !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'):
			return false
		case c < ' ' || c >= '~' || c == '\\':
			return false
		}
		start = c == '/'
	}
	return !start && len(path) <= MaxPath
}

// Unprintable reports whether r is a control character, or changes the direction of the text.
func Unprintable(r rune) bool {
	return r < 0x20 || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// CheckTogether returns a *PathError if two of paths cannot be in one tree: they
// are the same on a file system that ignores case, or one is a directory of the other.
func CheckTogether(paths []string) error {
	files := make(map[string]string, len(paths))
	for _, path := range paths {
		folded := fold(path)
		if other, ok := files[folded]; ok {
			return alike(path, other)
		}
		files[folded] = path
	}
	for folded, path := range files {
		for end := strings.LastIndexByte(folded, '/'); end > 0; end = strings.LastIndexByte(folded[:end], '/') {
			if file, ok := files[folded[:end]]; ok {
				return &PathError{path, fmt.Sprintf("%q is a file, not a directory", file)}
			}
		}
	}
	return nil
}

func alike(path, other string) error {
	if other == path {
		return &PathError{path, "it is listed twice"}
	}
	return &PathError{path, fmt.Sprintf("it differs from %q only in case", other)}
}

// foldCherokee folds the letters that [cases.Fold] leaves as they are.
func foldCherokee(r rune) rune {
	if unicode.Is(unicode.Cherokee, r) {
		return unicode.ToUpper(r)
	}
	return r
}

// fold returns the same text for names that are the same on some file system.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.Map(foldCherokee, norm.NFC.String(cases.Fold().String(norm.NFC.String(s))))
		}
	}
	return strings.ToLower(s)
}

// reserved lists the directories of version control and of the client. Programs run and
// obey the files in them, so no base file is stored or written there.
var reserved = []string{".git", ".hg", ".svn", ".tool"}

// Reserved returns the reserved directory that a segment of a path names on some file
// system, or "". NTFS knows .git as git~1, too.
func Reserved(segment string) string {
	if plain(segment) {
		return ""
	}
	name := Folded(segment)
	for _, r := range reserved {
		if name == r || isShortName(name, r[1:]) {
			return r
		}
	}
	return ""
}

// Folded returns a path in the form in which it is compared with names that programs look for, because some
// file system finds it under these: NTFS drops trailing dots and spaces, and ends a name at a colon; HFS+
// ignores some invisible characters; both ignore case, that of ſ and s, too.
func Folded(path string) string {
	segments := strings.Split(fold(strings.Map(visible, path)), "/")
	for i, segment := range segments {
		name, _, _ := strings.Cut(segment, ":")
		segments[i] = cmp.Or(strings.TrimRight(name, ". "), segment)
	}
	return strings.Join(segments, "/")
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
