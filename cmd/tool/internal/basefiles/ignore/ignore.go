// Package ignore decides by gitignore rules which paths are excluded, as git does.
//
// It reads no file and walks no tree. The caller does not enter an excluded directory,
// so nothing below it can be included again.
package ignore

import (
	"bytes"
	"strings"
)

// Rule is one line of a list of rules.
type Rule struct {
	Pattern string // as written, without line ending and trailing spaces
	Source  string // the list's name
	Line    int    // in the list, from 1
	Keeps   bool   // the pattern begins with !: it includes what it matches

	dirOnly  bool // a trailing slash: it matches only directories
	baseOnly bool // no other slash: it is matched against a path's last element
	glob     glob
}

// Rules is a compiled list.
type Rules struct {
	rules  []Rule
	ending [256][]int // indices of the rules for texts that end in a byte; of 0, in any
}

// Compile parses a list in the format of a .gitignore file. It skips lines that can
// match nothing, such as one with an unterminated class.
func Compile(patterns []byte, source string) *Rules {
	r := &Rules{}
	patterns = bytes.TrimPrefix(patterns, []byte("\ufeff"))
	number := 0
	for line := range strings.SplitSeq(string(patterns), "\n") {
		number++
		if rule, ok := parse(line); ok {
			rule.Source, rule.Line = source, number
			end := lastByte(rule.glob.suffix)
			r.ending[end] = append(r.ending[end], len(r.rules))
			r.rules = append(r.rules, rule)
		}
	}
	return r
}

// parse parses one line. It is not ok if that has no rule, or one that matches nothing.
func parse(line string) (rule Rule, ok bool) {
	line = strings.TrimSuffix(line, "\r")
	line, _, _ = strings.Cut(line, "\x00") // git's strings end here
	if strings.HasPrefix(line, "#") {
		return Rule{}, false
	}
	line = trimSpaces(line)
	rule.Pattern = line
	line, rule.Keeps = strings.CutPrefix(line, "!")
	line, rule.dirOnly = strings.CutSuffix(line, "/")
	rule.baseOnly = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	rule.glob, ok = compileGlob(line)
	return rule, ok && line != ""
}

// trimSpaces removes trailing spaces, except one that a backslash escapes.
func trimSpaces(line string) string {
	trimmed := strings.TrimRight(line, " ")
	backslashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
	if backslashes%2 == 1 && len(trimmed) < len(line) {
		trimmed += " "
	}
	return trimmed
}

// Match returns the rule that decides, which is the last one that matches path, or nil.
// path is /-separated and relative to the directory of the rules; dir says whether it is
// a directory. Match does not check the directories above path.
func (r *Rules) Match(path string, dir bool) *Rule {
	name := path[strings.LastIndexByte(path, '/')+1:]
	last := -1
	for _, end := range [2]byte{0, lastByte(path)} {
		indices := r.ending[end]
		for k := len(indices) - 1; k >= 0 && indices[k] > last; k-- {
			rule := &r.rules[indices[k]]
			text := path
			if rule.baseOnly {
				text = name
			}
			if (dir || !rule.dirOnly) && rule.glob.match(text) {
				last = indices[k]
			}
		}
	}
	if last < 0 {
		return nil
	}
	return &r.rules[last]
}

// lastByte returns 0 for an empty text.
func lastByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}
