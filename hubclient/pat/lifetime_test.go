package pat_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient/pat"
)

func TestParseLifetime_IsExactOrRefused(t *testing.T) {
	units := map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		n := r.Uint64() >> r.IntN(64)
		for name, unit := range units {
			text := fmt.Sprint(n, name)
			got, err := pat.ParseLifetime(text)
			want := new(big.Int).Mul(new(big.Int).SetUint64(n), big.NewInt(int64(unit)))
			allowed := n > 0 && want.Cmp(big.NewInt(int64(pat.MaxLifetime))) <= 0
			if allowed != (err == nil) || allowed && big.NewInt(int64(got)).Cmp(want) != 0 {
				t.Fatalf("%s is %v, %v", text, got, err)
			}
		}
	}
}

func TestParseLifetime_NamesTheLimit(t *testing.T) {
	for _, text := range []string{"20000w", "65535w", "99999999999999999999d"} {
		if _, err := pat.ParseLifetime(text); err == nil || !strings.Contains(err.Error(), "100 years") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "w", "0d", "-1d", "1", "1.5d", "1y", "+1d"} {
		if _, err := pat.ParseLifetime(text); err == nil || strings.Contains(err.Error(), "100 years") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if got, err := pat.ParseLifetime("never"); got != 0 || err != nil {
		t.Errorf("never: %v, %v", got, err)
	}
}
