package ignore

import "math/bits"

// run reports whether tokens match all of s. It follows all ways through tokens
// at once, byte by byte, so that no pattern costs more than its length times
// that of s.
func run(tokens []token, s string) bool {
	var small [2][2]uint64 // enough for nearly every pattern, without allocating
	now, next := places(small[0][:]), places(small[1][:])
	if n := len(tokens)/64 + 1; n > len(now) {
		now, next = make(places, n), make(places, n)
	}
	now.reach(tokens, 0)
	for i := range len(s) {
		clear(next)
		for at := now.from(0); at >= 0; at = now.from(at + 1) {
			next.step(tokens, at, s[i])
		}
		now, next = next, now
	}
	return now.has(len(tokens))
}

// places is a set of numbers of tokens, as bits: those that can be next.
// len(tokens) stands for the end.
type places []uint64

func (p places) has(at int) bool { return p[at/64]>>(at%64)&1 == 1 }

// from returns the least place that is not below at, or -1.
func (p places) from(at int) int {
	for word := at / 64; word < len(p); word++ {
		if rest := p[word] >> (at % 64) << (at % 64); rest != 0 {
			return word*64 + bits.TrailingZeros64(rest)
		}
		at = 0
	}
	return -1
}

// reach adds the place at, and those that can be reached from it without a byte.
func (p places) reach(tokens []token, at int) {
	for !p.has(at) {
		p[at/64] |= 1 << (at % 64)
		if at == len(tokens) {
			return
		}
		switch tokens[at].op {
		case opStar, opDeep:
		case opDirs:
			p.reach(tokens, at+2)
		default:
			return
		}
		at++
	}
}

// step adds the places that the byte c leads to from at.
func (p places) step(tokens []token, at int, c byte) {
	if at == len(tokens) {
		return
	}
	t := tokens[at]
	if !t.takes(c) {
		return
	}
	if !t.single() {
		p.reach(tokens, at)
	}
	if t.single() || t.op == opInside && c == '/' {
		p.reach(tokens, at+1)
	}
}
