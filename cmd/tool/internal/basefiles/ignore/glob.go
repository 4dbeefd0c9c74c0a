package ignore

import "strings"

// glob is a compiled pattern: its literal prefix and the tokens after it. A pattern
// without a wildcard has no tokens.
type glob struct {
	prefix      string
	tokens      []token
	minimum     int    // bytes that tokens match at minimum
	first, last byte   // of every text that it matches; 0: any
	inner       string // the longest text that is between two wildcards, or ""
}

type token struct {
	op   op
	byte byte
	set  *[256]bool
}

type op uint8

const (
	opByte   op = iota // this byte
	opAny              // ?: any byte but a slash
	opSet              // [...]: a byte of a set
	opStar             // *: any number of bytes but slashes
	opDeep             // ** at the end: any number of bytes
	opDirs             // **/: nothing, or what the opInside after it matches
	opInside           // any number of bytes and a slash
)

// single reports whether t matches exactly one byte.
func (t token) single() bool { return t.op == opByte || t.op == opAny || t.op == opSet }

// takes reports whether t can match the byte c.
func (t token) takes(c byte) bool {
	switch t.op {
	case opByte:
		return c == t.byte
	case opSet:
		return t.set[c]
	case opAny, opStar:
		return c != '/'
	case opDirs:
		return false
	}
	return true
}

// compileGlob is not ok if pattern matches nothing.
func compileGlob(pattern string) (g glob, ok bool) {
	tokens, ok := parseGlob(pattern)
	if !ok {
		return glob{}, false
	}
	var prefix []byte
	for len(tokens) > len(prefix) && tokens[len(prefix)].op == opByte {
		prefix = append(prefix, tokens[len(prefix)].byte)
	}
	g.prefix, g.tokens = string(prefix), tokens[len(prefix):]
	if len(prefix) > 0 {
		g.first = prefix[0]
	}
	if n := len(tokens); n > 0 && tokens[n-1].op == opByte {
		g.last = tokens[n-1].byte
	}
	for _, t := range g.tokens {
		if t.single() {
			g.minimum++
		}
	}
	g.inner = innerText(g.tokens)
	return g, true
}

// innerText returns the longest run of literal bytes before the last token that matches
// texts of any length. Every text that tokens match contains it.
func innerText(tokens []token) string {
	var longest, text []byte
	for _, t := range tokens {
		if t.op == opByte {
			text = append(text, t.byte)
			continue
		}
		if len(text) > len(longest) && !t.single() {
			longest = text
		}
		text = nil
	}
	return string(longest)
}

func parseGlob(pattern string) (tokens []token, ok bool) {
	literal := strings.IndexAny(pattern, `*?[\`)
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '\\':
			if i++; i == len(pattern) {
				return nil, false
			}
			tokens = append(tokens, token{op: opByte, byte: pattern[i]})
		case '?':
			tokens = append(tokens, token{op: opAny})
		case '[':
			set, n, ok := parseSet(pattern[i+1:])
			if !ok {
				return nil, false
			}
			tokens = append(tokens, token{op: opSet, set: set})
			i += n
		case '*':
			stars := len(pattern[i:]) - len(strings.TrimLeft(pattern[i:], "*"))
			// git compares the literal text before the first wildcard separately,
			// so the wildcard is at the start of a pattern of its own.
			starts := i == literal || pattern[i-1] == '/'
			tokens = appendStars(tokens, stars, starts, pattern[i+stars:])
			i += stars - 1
			if tokens[len(tokens)-1].op == opInside {
				i++
			}
		default:
			tokens = append(tokens, token{op: opByte, byte: c})
		}
	}
	return tokens, true
}

// appendStars appends the tokens of a run of stars before rest; starts says whether
// an element of the path can start at the stars.
func appendStars(tokens []token, stars int, starts bool, rest string) []token {
	switch {
	case stars < 2 || !starts:
	case strings.HasPrefix(rest, "/"):
		if n := len(tokens); n > 0 && tokens[n-1].op == opInside {
			return tokens // **/**/ is **/
		}
		return append(tokens, token{op: opDirs}, token{op: opInside})
	case rest == "" || strings.HasPrefix(rest, `\/`):
		return append(tokens, token{op: opDeep})
	}
	return append(tokens, token{op: opStar})
}

// literal returns the text that g matches, if it matches only one.
func (g *glob) literal() (string, bool) { return g.prefix, len(g.tokens) == 0 }

// may is a fast check, small enough to be inlined, that most texts fail.
func (g *glob) may(s string) bool {
	return s == "" || (g.first == 0 || s[0] == g.first) && (g.last == 0 || s[len(s)-1] == g.last)
}

func (g *glob) match(s string) bool {
	if len(s) < len(g.prefix)+g.minimum || !strings.HasPrefix(s, g.prefix) {
		return false
	}
	s = s[len(g.prefix):]
	tokens := g.tokens
	// Comparing the end first rejects most texts fast.
	for n := len(tokens); n > 0 && tokens[n-1].single(); n = len(tokens) {
		end := len(s) - 1
		if end < 0 || !tokens[n-1].takes(s[end]) {
			return false
		}
		tokens, s = tokens[:n-1], s[:end]
	}
	if len(tokens) == 1 && tokens[0].op == opStar {
		return strings.IndexByte(s, '/') < 0
	}
	return strings.Contains(s, g.inner) && run(tokens, s)
}
