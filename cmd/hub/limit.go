package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// The largest values of limits: far more than a hub can handle, and far less than would
// overflow.
const (
	mostBytes = 1 << 40
	mostItems = 10_000_000
	mostDepth = 1000 // JSON beyond 10,000 is refused whatever the limit
)

// limit is the value of a flag: an integer from least to most.
type limit[T int | int64] struct {
	value       *T
	least, most T
}

func (l limit[T]) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < int64(l.least) || n > int64(l.most) {
		return fmt.Errorf("a limit is an integer from %d to %d", l.least, l.most)
	}
	*l.value = T(n)
	return nil
}

func (l limit[T]) String() string {
	if l.value == nil { // pflag asks the zero value
		return ""
	}
	return strconv.FormatInt(int64(*l.value), 10)
}

func (l limit[T]) Type() string { return "int" }

// limitVar adds a flag for the limit at value, which is its default.
func limitVar[T int | int64](f *pflag.FlagSet, value *T, most T, name, usage string) {
	f.Var(limit[T]{value, 1, most}, name, usage)
}
