package flat_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
)

var objects = flag.Int("objects", 5_000, "how many random objects and patches the Random tests try")

// eachRandom calls check with -objects random sources, on every processor. It
// stops after the first failure; the number in its message makes the same source again.
func eachRandom(t *testing.T, check func(t *testing.T, r *rand.Rand) error) {
	eachRandomOf(t, *objects, check)
}

func eachRandomOf(t *testing.T, count int, check func(t *testing.T, r *rand.Rand) error) {
	var last atomic.Int64
	t.Run("all", func(all *testing.T) {
		for processor := range runtime.GOMAXPROCS(0) {
			all.Run(fmt.Sprint(processor), func(t *testing.T) {
				t.Parallel()
				for i := last.Add(1); i <= int64(count) && !all.Failed(); i = last.Add(1) {
					if err := check(t, rand.New(rand.NewPCG(1, uint64(i)))); err != nil {
						t.Errorf("random source %d: %v", i, err)
					}
				}
			})
		}
	})
}

// generator writes random JSON: every text in some spelling, every name and
// string from a few awkward characters, so that clashes and escapes are common.
type generator struct {
	*rand.Rand
	strings.Builder
}

var awkward = []rune{'a', 'b', 'c', '.', '.', '\\', '\\', '"', '/', '~', '-', '_', '0', ' ', '\t', '\n', 0, 0x1f, 0x7f,
	'é',
	0x301, 0x2028, 0xd7ff, 0xe000, 0xff61, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x10ffff}

func (g *generator) text() string {
	if g.IntN(4) == 0 {
		return []string{"", "a", "enrichments", "$secret", "b", "$secret"}[g.IntN(6)]
	}
	s := make([]rune, g.IntN(4))
	for i := range s {
		s[i] = awkward[g.IntN(len(awkward))]
	}
	return string(s)
}

func (g *generator) space() {
	if g.IntN(8) == 0 {
		g.WriteString([]string{" ", "\n", "\t ", "\r\n"}[g.IntN(4)])
	}
}

func (g *generator) quoted(s string) {
	g.WriteByte('"')
	for _, c := range s {
		switch {
		case c > 0xffff && g.IntN(2) == 0:
			fmt.Fprintf(g, `\u%04x\u%04X`, 0xd800+(c-0x10000)>>10, 0xdc00+(c-0x10000)&0x3ff)
		case c < 0x20 || c <= 0xffff && g.IntN(4) == 0:
			fmt.Fprintf(g, `\u%04X`, c)
		case c == '"' || c == '\\' || c == '/' && g.IntN(2) == 0:
			g.WriteByte('\\')
			g.WriteRune(c)
		default:
			g.WriteRune(c)
		}
	}
	g.WriteByte('"')
}

func (g *generator) number() {
	if g.IntN(3) == 0 {
		g.WriteByte('-')
	}
	g.WriteString([]string{"0", "1", "9007199254740993", "12345678901234567890123", "10"}[g.IntN(5)])
	g.WriteString([]string{"", "", ".0", ".00", ".50"}[g.IntN(5)])
	g.WriteString([]string{"", "", "", "e400", "E+2", "e-0"}[g.IntN(6)])
}

func (g *generator) value(depth int) {
	kinds := 8
	if depth == 0 {
		kinds = 5
	}
	switch g.IntN(kinds) {
	case 0:
		if g.IntN(2) == 0 {
			g.quoted([]string{"A", "B", "low"}[g.IntN(3)])
			break
		}
		g.quoted(g.text())
	case 1:
		g.number()
	case 2:
		g.WriteString([]string{"null", "true", "false"}[g.IntN(3)])
	case 3:
		g.WriteString("{}")
	case 4:
		g.WriteString("[]")
	case 5:
		g.array(depth)
	default:
		g.object(depth)
	}
}

func (g *generator) array(depth int) {
	g.WriteByte('[')
	for i := range g.IntN(4) {
		if i > 0 {
			g.WriteByte(',')
		}
		g.space()
		g.value(depth - 1)
		g.space()
	}
	g.WriteByte(']')
}

func (g *generator) object(depth int) {
	g.members(g.names(), func(string) { g.value(depth - 1) })
}

// names returns a few names, all different.
func (g *generator) names() []string {
	var names []string
	for range g.IntN(5) {
		if name := g.text(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (g *generator) members(names []string, value func(name string)) {
	g.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			g.WriteByte(',')
		}
		g.space()
		g.quoted(name)
		g.space()
		g.WriteByte(':')
		g.space()
		value(name)
		g.space()
	}
	g.WriteByte('}')
}

func randomSettings(r *rand.Rand) string {
	g := generator{Rand: r}
	g.space()
	g.object(g.IntN(5))
	g.space()
	return g.String()
}

func TestUnfold_RandomObjectsRoundTrip(t *testing.T) {
	eachRandom(t, func(t *testing.T, r *rand.Rand) error {
		if err := checkSettings(t, randomSettings(r)); err != nil {
			return err
		}
		from, to := randomSettings(r), randomSettings(r)
		return checkDiff(t, from, to)
	})
}

// checkSettings holds everything that a config of these settings says against
// the naive implementation.
func checkSettings(t testing.TB, settings string) error {
	c, err := flat.Fold([]byte(settings))
	if err != nil {
		return fmt.Errorf("Fold(%s): %w", settings, err)
	}
	tree := decode(t, []byte(settings)).(map[string]any)
	config := naiveFold(tree)
	want := naiveCanonical(config)
	if got := string(c.Canonical()); got != want {
		return fmt.Errorf("%s folds to\n     %s\nwant %s", settings, got, want)
	}
	unfolded := c.Unfold()
	if want := naiveCanonical(tree); string(unfolded) != want {
		return fmt.Errorf("%s folds and unfolds to\n     %s\nwant %s", settings, unfolded, want)
	}
	sum := sha256.Sum256([]byte(want))
	if got := c.Revision(); got != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("%s has the revision %s", want, got)
	}
	for name, read := range map[string]func() (flat.Config, error){
		"folded again": func() (flat.Config, error) { return flat.Fold(unfolded) },
		"parsed":       func() (flat.Config, error) { return flat.Parse([]byte(want)) },
	} {
		again, err := read()
		if err != nil {
			return fmt.Errorf("%s, %s: %w", want, name, err)
		}
		if string(again.Canonical()) != want || string(again.Unfold()) != string(unfolded) || !flat.Diff(c, again).Empty() {
			return fmt.Errorf("%s, %s, is %s", want, name, again.Canonical())
		}
	}
	if err := checkMembers(c, config); err != nil {
		return fmt.Errorf("%s: %w", want, err)
	}
	return checkMeasures(c, int64(len(want)), len(config), naiveDepth(tree))
}

func checkMembers(c flat.Config, want map[string]any) error {
	keys := slices.Sorted(maps.Keys(want))
	if got := c.Keys(); !slices.Equal(got, keys) {
		return fmt.Errorf("keys %q, want %q", got, keys)
	}
	for key, value := range want {
		if got, ok := c.Get(key); !ok || got != naiveCanonical(value) {
			return fmt.Errorf("Get(%q) = %s, %t, want %s", key, got, ok, naiveCanonical(value))
		}
	}
	return nil
}

func checkMeasures(c flat.Config, bytes int64, keys, depth int) error {
	if c.Len() != keys {
		return fmt.Errorf("%d keys, want %d", c.Len(), keys)
	}
	if err := c.Check(flat.Limits{Bytes: bytes, Keys: keys, Depth: depth}); err != nil {
		return err
	}
	for _, less := range []flat.Limits{{Bytes: bytes - 1}, {Keys: keys - 1}, {Depth: depth - 1}} {
		if less != (flat.Limits{Keys: -1}) && less != (flat.Limits{}) && c.Check(less) == nil {
			return fmt.Errorf("%s is within %+v", c.Canonical(), less)
		}
	}
	return nil
}

func checkDiff(t testing.TB, from, to string) error {
	a := naiveFold(decode(t, []byte(from)).(map[string]any))
	b := naiveFold(decode(t, []byte(to)).(map[string]any))
	var want flat.Difference
	for key, value := range a {
		was := naiveCanonical(value)
		if value, ok := b[key]; !ok {
			want = append(want, flat.Change{Key: key, From: was})
		} else if is := naiveCanonical(value); is != was {
			want = append(want, flat.Change{Key: key, From: was, To: is})
		}
	}
	for key, value := range b {
		if _, ok := a[key]; !ok {
			want = append(want, flat.Change{Key: key, To: naiveCanonical(value)})
		}
	}
	slices.SortFunc(want, func(a, b flat.Change) int { return strings.Compare(a.Key, b.Key) })
	if diff := cmp.Diff(want, flat.Diff(fold(t, from), fold(t, to))); diff != "" {
		return fmt.Errorf("from %s to %s: %s", from, to, diff)
	}
	return nil
}
