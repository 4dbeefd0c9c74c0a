package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/projecthub/store"
)

func BenchmarkReadBlob(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10, 100 << 10, 1 << 20, 16 << 20} {
		var text strings.Builder
		for text.Len() < size {
			fmt.Fprintf(&text, "export const id%x = ", rand.Uint32())
		}
		blob := store.NewBlob([]byte(text.String()[:size]))
		b.Run(fmt.Sprint(size, "/whole"), func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for range b.N {
				buf, _ = blob.Open(buf)
			}
		})
		b.Run(fmt.Sprint(size, "/stream"), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := store.ReadBlob(blob.Body, int64(size)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
