package ignore

import "strings"

// glob is a compiled pattern: the literal text before its first wildcard, the tokens to its
// last one, and the literal text after that. A pattern without a wildcard has only a suffix.
type glob struct {
	prefix string
	middle []token
	suffix string
}

type token struct {
	text string     // "" for a wildcard
	set  *[256]bool // the bytes that a wildcard matches; nil for **/: nothing, or any bytes and a slash
	many bool       // any number of them, not one
}

var anyByte, noSlash = func() (all, most [256]bool) {
	for c := range all {
		all[c], most[c] = true, c != '/'
	}
	return all, most
}()

// compileGlob is not ok if pattern matches nothing.
func compileGlob(pattern string) (g glob, ok bool) {
	g.middle, ok = parseGlob(pattern)
	if last := len(g.middle) - 1; last >= 0 {
		g.suffix = g.middle[last].text
		g.middle = g.middle[:len(g.middle)-min(len(g.suffix), 1)]
	}
	if len(g.middle) > 0 {
		g.prefix = g.middle[0].text
		g.middle = g.middle[min(len(g.prefix), 1):]
	}
	return g, ok
}

func parseGlob(pattern string) (tokens []token, ok bool) {
	literal := strings.IndexAny(pattern, `*?[\`)
	for i := 0; i < len(pattern); i++ {
		last := len(tokens) - 1
		switch c := pattern[i]; c {
		case '?':
			tokens = append(tokens, token{set: &noSlash})
		case '[':
			set, rest, ok := parseSet(pattern[i+1:])
			if !ok {
				return nil, false
			}
			tokens = append(tokens, token{set: set})
			i = len(pattern) - len(rest) - 1
		case '*':
			rest := strings.TrimLeft(pattern[i:], "*")
			// git compares the literal text before the first wildcard separately,
			// so the wildcard is at the start of a pattern of its own.
			starts := i == literal || pattern[i-1] == '/'
			double := starts && len(pattern)-len(rest)-i >= 2
			switch {
			case double && strings.HasPrefix(rest, "/"):
				rest = rest[1:]
				if last < 0 || tokens[last] != (token{}) { // **/**/ is **/
					tokens = append(tokens, token{})
				}
			case double && (rest == "" || strings.HasPrefix(rest, `\/`)):
				tokens = append(tokens, token{set: &anyByte, many: true})
			default:
				tokens = append(tokens, token{set: &noSlash, many: true})
			}
			i = len(pattern) - len(rest) - 1
		default:
			if c == '\\' {
				if i++; i == len(pattern) {
					return nil, false
				}
			}
			if last < 0 || tokens[last].text == "" {
				tokens = append(tokens, token{})
				last++
			}
			tokens[last].text += pattern[i : i+1]
		}
	}
	return tokens, true
}

func (g *glob) match(s string) bool {
	if len(s) < len(g.prefix)+len(g.suffix) || !strings.HasPrefix(s, g.prefix) || !strings.HasSuffix(s, g.suffix) {
		return false
	}
	s = s[len(g.prefix) : len(s)-len(g.suffix)]
	switch {
	case len(g.middle) == 0:
		return s == ""
	case len(g.middle) == 1 && g.middle[0] == token{set: &noSlash, many: true}: // such as *.log
		return !strings.Contains(s, "/")
	}
	for _, t := range g.middle {
		if !strings.Contains(s, t.text) { // as nearly always
			return false
		}
	}
	return matchAll(g.middle, s)
}

// matchAll reports whether tokens match all of s. matched[i] says whether the tokens so
// far match the first i bytes of s, so its time is at most the product of the two lengths.
func matchAll(tokens []token, s string) bool {
	matched := make([]bool, len(s)+1)
	matched[0] = true
	for _, t := range tokens {
		switch {
		case t.text == "" && t.set == nil:
			any := matched[0] // one of the bytes so far
			for i := range len(s) {
				before := matched[i+1]
				matched[i+1] = before || any && s[i] == '/'
				any = any || before
			}
		case t.many:
			for i := range len(s) {
				matched[i+1] = matched[i+1] || matched[i] && t.set[s[i]]
			}
		default:
			n := max(len(t.text), 1)
			for i := len(s); i >= 0; i-- {
				matched[i] = i >= n && matched[i-n] && (s[i-n:i] == t.text || t.set != nil && t.set[s[i-n]])
			}
		}
	}
	return matched[len(s)]
}

// parseSet parses a class from after its [ and returns what follows its ]. It is not ok if
// the class is malformed.
func parseSet(s string) (set *[256]bool, rest string, ok bool) {
	set = new([256]bool)
	add := func(first, last byte) {
		for c := int(first); c <= int(last); c++ {
			set[c] = true
		}
	}
	next := func() (c byte) { // 0 at the end
		if s = strings.TrimPrefix(s, `\`); s != "" {
			c, s = s[0], s[1:]
		}
		return c
	}
	negated := strings.HasPrefix(s, "!") || strings.HasPrefix(s, "^")
	if negated {
		s = s[1:]
	}
	previous := byte(0) // start of a range if a - follows; 0 if there is none
	for first := true; first || !strings.HasPrefix(s, "]"); first = false {
		if named, ok := strings.CutPrefix(s, "[:"); ok {
			name, after, closed := strings.Cut(named, "]")
			name, named := strings.CutSuffix(name, ":")
			ranges := classes[name]
			if !closed || named && ranges == "" {
				return nil, "", false
			}
			if named {
				for i := 0; i < len(ranges); i += 2 {
					add(ranges[i], ranges[i+1])
				}
				previous, s = 0, after
				continue
			}
		}
		ranged := previous != 0 && len(s) > 1 && s[0] == '-' && s[1] != ']'
		if ranged {
			s = s[1:]
		}
		c := next()
		if c == 0 {
			return nil, "", false
		}
		if ranged {
			add(previous, c)
			previous = 0
			continue
		}
		add(c, c)
		previous = c
	}
	if negated {
		for c := range set {
			set[c] = !set[c]
		}
	}
	set['/'] = false // even when it is listed
	return set, s[1:], true
}

// classes has the ranges of the named classes: the first and the last byte of each.
var classes = map[string]string{
	"alnum":  "09AZaz",
	"alpha":  "AZaz",
	"blank":  "  \t\t",
	"cntrl":  "\x00\x1f\x7f\x7f",
	"digit":  "09",
	"graph":  "!~",
	"lower":  "az",
	"print":  " ~",
	"punct":  "!/:@[`{~",
	"space":  "  \t\n\r\r", // no \v, no \f
	"upper":  "AZ",
	"xdigit": "09AFaf",
}
