package ignore

import "math/bits"

// run reports whether tokens match all of s. It follows all paths through tokens at once,
// byte by byte, so its time is at most the product of the two lengths.
func run(tokens []token, s string) bool {
	var small [2][2]uint64 // enough for nearly every pattern, without allocating
	now, next := states(small[0][:]), states(small[1][:])
	if n := len(tokens)/64 + 1; n > len(now) {
		now, next = make(states, n), make(states, n)
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

// states is a bit set of the indices of tokens that can match next; len(tokens) is
// the end.
type states []uint64

func (p states) has(at int) bool { return p[at/64]>>(at%64)&1 == 1 }

// from returns the least state that is at least at, or -1.
func (p states) from(at int) int {
	for word := at / 64; word < len(p); word++ {
		if rest := p[word] >> (at % 64) << (at % 64); rest != 0 {
			return word*64 + bits.TrailingZeros64(rest)
		}
		at = 0
	}
	return -1
}

// reach adds the state at, and those that it reaches without a byte.
func (p states) reach(tokens []token, at int) {
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

// step adds the states that the byte c leads to from the state at.
func (p states) step(tokens []token, at int, c byte) {
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
