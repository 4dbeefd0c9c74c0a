package ignore

import "strings"

// parseSet parses a class from after its [ up to and including its ]. n is the number of
// bytes read. It is not ok if the class is malformed.
func parseSet(pattern string) (set *[256]bool, n int, ok bool) {
	p := setParser{pattern: pattern, set: new([256]bool)}
	negated := p.skip('!') || p.skip('^')
	for first := true; first || p.peek(0) != ']'; first = false {
		if !p.element() {
			return nil, 0, false
		}
	}
	if negated {
		for c := range p.set {
			p.set[c] = !p.set[c]
		}
	}
	p.set['/'] = false // even when it is listed
	return p.set, p.at + 1, true
}

type setParser struct {
	pattern  string
	at       int
	set      *[256]bool
	previous byte // start of a range if a - follows; 0 if there is none
}

// peek returns the byte at an offset from the next one, or 0 at the end.
func (p *setParser) peek(ahead int) byte {
	if i := p.at + ahead; i < len(p.pattern) {
		return p.pattern[i]
	}
	return 0
}

func (p *setParser) skip(c byte) bool {
	ok := p.peek(0) == c
	if ok {
		p.at++
	}
	return ok
}

// next reads one byte, or the byte after a backslash. It returns 0 at the end.
func (p *setParser) next() byte {
	p.skip('\\')
	c := p.peek(0)
	p.at++
	return c
}

// element parses a byte, a range or a named class, and reports whether it is valid.
func (p *setParser) element() bool {
	if p.peek(0) == '[' && p.peek(1) == ':' {
		name, _, closed := strings.Cut(p.pattern[p.at+2:], "]")
		if !closed {
			return false
		}
		if name, ok := strings.CutSuffix(name, ":"); ok {
			p.at += len("[::]") + len(name)
			p.previous = 0
			return p.named(name)
		}
	}
	if p.previous != 0 && p.peek(0) == '-' && p.peek(1) != 0 && p.peek(1) != ']' {
		p.at++
		last := p.next()
		for c := int(p.previous); c <= int(last); c++ {
			p.set[c] = true
		}
		p.previous = 0
		return last != 0
	}
	p.previous = p.next()
	p.set[p.previous] = true
	return p.previous != 0
}

// named adds a class such as alpha, restricted to ASCII.
func (p *setParser) named(name string) bool {
	in := classes[name]
	if in == nil {
		return false
	}
	for c := range byte(0x80) {
		p.set[c] = p.set[c] || in(c)
	}
	return true
}

var classes = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return isAlpha(c) || isDigit(c) },
	"alpha":  isAlpha,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  isDigit,
	"graph":  isGraph,
	"lower":  isLower,
	"print":  func(c byte) bool { return c == ' ' || isGraph(c) },
	"punct":  func(c byte) bool { return isGraph(c) && !isAlpha(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }, // no \v, no \f
	"upper":  isUpper,
	"xdigit": func(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' },
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isAlpha(c byte) bool { return isLower(c) || isUpper(c) }
func isGraph(c byte) bool { return c > ' ' && c < 0x7f }
