package objects_test

import (
	"context"
	"strings"
	"testing"

	"example.com/projecthub/store/objects"
)

// broken is a store that fails to store objects.
type broken struct{ objects.Store }

func (broken) Put(context.Context, string, []byte) error { return objects.ErrUnavailable }

func TestMeasured_CountsRequestsAndFailures(t *testing.T) {
	outside, err := objects.Open("file:"+t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	m := objects.Measure(broken{outside})
	if err := m.Put(t.Context(), "a", []byte("alpha")); err == nil {
		t.Error("it stores an object")
	}
	for range 2 {
		if _, err := m.Get(t.Context(), "a", 5); err == nil {
			t.Error("there is an object")
		}
	}
	if err := m.List(t.Context(), func(string) error { return nil }); err != nil {
		t.Error(err)
	}
	var b strings.Builder
	m.WriteMetrics(&b)
	for _, want := range []string{
		`hub_object_requests_total{operation="put"} 1`, `hub_object_failures_total{operation="put"} 1`,
		`hub_object_requests_total{operation="get"} 2`, `hub_object_failures_total{operation="get"} 0`, // an object that does not exist is no failure
		`hub_object_requests_total{operation="list"} 1`, `hub_object_requests_total{operation="remove"} 0`,
		`hub_object_seconds_count{operation="get"} 2`,
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("lacks %s\n%s", want, &b)
		}
	}
}
