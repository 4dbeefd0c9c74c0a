package flat_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/projecthub/hubclient/flat"
)

func TestSplit_EachKeyIsOnOneSide(t *testing.T) {
	eachRandom(t, func(_ *testing.T, r *rand.Rand) error {
		d := flat.Difference{}
		for i := range r.IntN(20) {
			switch key := fmt.Sprint("k", i); r.IntN(3) {
			case 0:
				d.Added = append(d.Added, flat.Entry{Key: key})
			case 1:
				d.Changed = append(d.Changed, flat.Change{Key: key})
			default:
				d.Removed = append(d.Removed, flat.Entry{Key: key})
			}
		}
		isOdd := func(key string) bool { return key[len(key)-1]%2 == 1 }
		odd, even := d.Split(isOdd)
		both := slices.Concat(odd.Keys(), even.Keys())
		want := d.Keys()
		slices.Sort(both)
		slices.Sort(want)
		if !slices.Equal(both, want) || slices.ContainsFunc(even.Keys(), isOdd) ||
			!slices.Equal(slices.DeleteFunc(odd.Keys(), isOdd), nil) {
			return fmt.Errorf("%v is split into %v and %v", d, odd, even)
		}
		return nil
	})
}
