package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// Measured is a store whose requests are counted.
type Measured struct {
	Store
	set                    *metrics.Set
	put, get, remove, list *measures
}

// measures are what is counted of an operation: each call once, with all its tries.
type measures struct {
	requests, failures *metrics.Counter
	seconds            *metrics.Summary
}

// measuredWindow is the time whose quantiles are shown.
const measuredWindow = 5 * time.Minute

// Measure returns s, with its requests counted.
func Measure(s Store) *Measured {
	set := metrics.NewSet()
	of := func(operation string) *measures {
		return &measures{
			set.NewCounter(fmt.Sprintf("hub_object_requests_total{operation=%q}", operation)),
			set.NewCounter(fmt.Sprintf("hub_object_failures_total{operation=%q}", operation)),
			set.NewSummaryExt(fmt.Sprintf("hub_object_seconds{operation=%q}", operation), measuredWindow, []float64{0.5, 0.9, 0.99, 1}),
		}
	}
	return &Measured{s, set, of("put"), of("get"), of("remove"), of("list")}
}

// note counts a call that began at a time. That there is no such object is no failure of
// the store, and neither is that the caller gave up.
func (m *measures) note(begin time.Time, err error) {
	m.requests.Inc()
	m.seconds.UpdateDuration(begin)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, context.Canceled) {
		m.failures.Inc()
	}
}

// WriteMetrics writes what was counted, in the format of Prometheus.
func (m *Measured) WriteMetrics(w io.Writer) { m.set.WritePrometheus(w) }

// Put is [Store.Put].
func (m *Measured) Put(ctx context.Context, key string, body []byte) (err error) {
	defer func(begin time.Time) { m.put.note(begin, err) }(time.Now())
	return m.Store.Put(ctx, key, body)
}

// Get is [Store.Get].
func (m *Measured) Get(ctx context.Context, key string, size int64) (body []byte, err error) {
	defer func(begin time.Time) { m.get.note(begin, err) }(time.Now())
	return m.Store.Get(ctx, key, size)
}

// Remove is [Store.Remove].
func (m *Measured) Remove(ctx context.Context, key string) (err error) {
	defer func(begin time.Time) { m.remove.note(begin, err) }(time.Now())
	return m.Store.Remove(ctx, key)
}

// List is [Store.List].
func (m *Measured) List(ctx context.Context, each func(key string) error) (err error) {
	defer func(begin time.Time) { m.list.note(begin, err) }(time.Now())
	return m.Store.List(ctx, each)
}
