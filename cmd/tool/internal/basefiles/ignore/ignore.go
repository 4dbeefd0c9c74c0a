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
	rules []Rule

	// Indices into rules, ascending: those without a wildcard, which take one lookup
	// together, and the others.
	names, paths literals
	globs        []int
}

// literals maps the only text that a rule matches to the rules.
type literals struct {
	rules  map[string][]int
	starts [256]bool // first bytes of these texts, which most paths do not begin with
}

func (l *literals) add(text string, rule int) {
	l.rules[text] = append(l.rules[text], rule)
	l.starts[text[0]] = true
}

func (l *literals) find(text string) (rules []int) {
	if text == "" || !l.starts[text[0]] {
		return nil
	}
	return l.rules[text]
}

// Compile parses a list in the format of a .gitignore file. It skips lines that can
// match nothing, such as one with an unterminated class.
func Compile(patterns []byte, source string) *Rules {
	r := &Rules{names: literals{rules: map[string][]int{}}, paths: literals{rules: map[string][]int{}}}
	patterns = bytes.TrimPrefix(patterns, []byte("\ufeff"))
	number := 0
	for line := range strings.SplitSeq(string(patterns), "\n") {
		number++
		if rule, ok := parse(line); ok {
			rule.Source, rule.Line = source, number
			r.add(rule)
		}
	}
	return r
}

// parse parses one line without its newline. It is not ok if the line contains no rule,
// or one that matches nothing.
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
	if last, ok := cutAnyDirs(line); ok {
		line, rule.baseOnly = last, true
	}
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

// cutAnyDirs reduces **/name to name. A pattern without a slash matches in any directory,
// too, and is faster to match.
func cutAnyDirs(pattern string) (name string, ok bool) {
	rest := strings.TrimLeft(pattern, "*")
	name, ok = strings.CutPrefix(rest, "/")
	ok = ok && len(pattern)-len(rest) >= 2 && !strings.Contains(name, "/")
	return name, ok
}

func (r *Rules) add(rule Rule) {
	i := len(r.rules)
	r.rules = append(r.rules, rule)
	literal, ok := rule.glob.literal()
	switch {
	case !ok:
		r.globs = append(r.globs, i)
	case rule.baseOnly:
		r.names.add(literal, i)
	default:
		r.paths.add(literal, i)
	}
}

// Match returns the rule that decides, which is the last one that matches path, or nil.
// path is /-separated and relative to the directory of the rules; dir says whether it is
// a directory. Match does not check the directories above path.
func (r *Rules) Match(path string, dir bool) *Rule {
	name := path[strings.LastIndexByte(path, '/')+1:]
	last := max(r.last(r.names.find(name), dir), r.last(r.paths.find(path), dir))
	for k := len(r.globs) - 1; k >= 0 && r.globs[k] > last; k-- {
		rule := &r.rules[r.globs[k]]
		text := path
		if rule.baseOnly {
			text = name
		}
		if rule.glob.may(text) && (dir || !rule.dirOnly) && rule.glob.match(text) {
			return rule
		}
	}
	if last < 0 {
		return nil
	}
	return &r.rules[last]
}

// last returns the greatest index whose rule may match, or -1.
func (r *Rules) last(indices []int, dir bool) int {
	for k := len(indices) - 1; k >= 0; k-- {
		if dir || !r.rules[indices[k]].dirOnly {
			return indices[k]
		}
	}
	return -1
}
