package flat_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient/flat"
)

// settingsOf returns settings with this many keys, ten to an object, whose
// values hold mark.
func settingsOf(keys int, mark string) []byte {
	var b strings.Builder
	b.WriteByte('{')
	for i := range keys {
		switch {
		case i%10 == 0 && i > 0:
			fmt.Fprintf(&b, `},"section%d":{`, i/10)
		case i%10 == 0:
			b.WriteString(`"section0":{`)
		default:
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"member%d":"value %s %d"`, i%10, mark, i)
	}
	b.WriteString("}}")
	return []byte(b.String())
}

// BenchmarkTenThousandKeys reports, besides the time, how many times as long each
// step takes as decoding the same settings with encoding/json.
func BenchmarkTenThousandKeys(b *testing.B) {
	const keys = 10_000
	settings := settingsOf(keys, "old")
	c, other := fold(b, string(settings)), fold(b, string(settingsOf(keys, "new")))
	config := string(c.Canonical())

	var decoding time.Duration
	for _, step := range []struct {
		name string
		run  func(b *testing.B)
	}{
		{"Decode", func(b *testing.B) { decode(b, settings) }},
		{"Fold", func(b *testing.B) { fold(b, string(settings)) }},
		{"Parse", func(b *testing.B) { parse(b, config) }},
		{"Check", func(b *testing.B) { c.Check(flat.Limits{Bytes: 1, Keys: 1, Depth: 1}) }},
		{"Revision", func(b *testing.B) { c.Revision() }},
		{"Unfold", func(b *testing.B) { c.Unfold() }},
		{"Diff", func(b *testing.B) { flat.Diff(c, other) }},
	} {
		b.Run(step.name, func(b *testing.B) {
			for b.Loop() {
				step.run(b)
			}
			each := b.Elapsed() / time.Duration(b.N)
			if decoding == 0 {
				decoding = each
			}
			b.ReportMetric(float64(each)/float64(decoding), "decodings")
		})
	}
}

// BenchmarkHostileGrowth reports how much longer one byte of hostile settings
// takes to fold and measure when there are eight times as many: near 1 is linear.
func BenchmarkHostileGrowth(b *testing.B) {
	few, many := hostile(1<<17), hostile(1<<20)
	for name := range few {
		b.Run(name, func(b *testing.B) {
			var short, long time.Duration
			for b.Loop() {
				short += timeToCheck(b, few[name])
				long += timeToCheck(b, many[name])
			}
			perByte := func(d time.Duration, settings string) float64 { return float64(d) / float64(len(settings)) }
			b.ReportMetric(perByte(long, many[name])/perByte(short, few[name]), "growth")
		})
	}
}

func timeToCheck(b *testing.B, settings string) time.Duration {
	start := time.Now()
	c := fold(b, settings)
	if err := c.Check(flat.Limits{Bytes: 1}); err == nil {
		b.Fatal("it is within the limit")
	}
	return time.Since(start)
}
