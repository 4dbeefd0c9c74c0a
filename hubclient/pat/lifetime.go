package pat

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// MaxLifetime bounds the lifetime of a token that expires: times beyond it would
// overflow.
const MaxLifetime = 100 * 365 * 24 * time.Hour

// ParseLifetime reads 12h, 90d, 52w or never, which is 0.
func ParseLifetime(s string) (time.Duration, error) {
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if s == "never" {
		return 0, nil
	}
	if s != "" {
		n, err := strconv.ParseUint(s[:len(s)-1], 10, 64)
		unit := units[s[len(s)-1]]
		switch {
		case unit == 0 || err != nil && !errors.Is(err, strconv.ErrRange) || n == 0:
		case n > uint64(MaxLifetime/unit):
			return 0, fmt.Errorf("%q is more than 100 years: give less, or never for a token that does not expire", s)
		default:
			return time.Duration(n) * unit, nil
		}
	}
	return 0, fmt.Errorf("%q is not a lifetime: give hours, days or weeks, such as 12h, 90d or 52w, or never", s)
}
