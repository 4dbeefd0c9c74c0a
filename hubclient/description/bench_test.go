package description_test

import (
	"context"
	"testing"
	"time"

	"example.com/projecthub/hubclient/description"
)

// BenchmarkParse reports how much longer twice the schemas take: 2 is linear.
func BenchmarkParse(b *testing.B) {
	text := func(n int) []byte {
		return []byte(schemas("3.0.0",
			repeat(n,
				`"A%": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/A0"}, "b": {"type": "string", "maxLength": 5}}}`)))
	}
	once, twice := text(10_000), text(20_000)
	parse := func(data []byte) time.Duration {
		begin := time.Now()
		if _, err := description.Parse(context.Background(), data, nil); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	var one, two time.Duration
	for b.Loop() {
		one += parse(once)
		two += parse(twice)
	}
	b.ReportMetric(float64(two)/float64(one), "time-ratio/double")
	b.SetBytes(int64(len(once) + len(twice)))
}
