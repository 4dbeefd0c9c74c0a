package store_test

import (
	"slices"
	"testing"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/store"
)

// compared returns the differences that CompareConfigs finds, as flat.Diff lists them.
func compared(from, to []byte) (d flat.Difference, err error) {
	err = store.CompareConfigs(from, to, func(key string, before, after []byte) {
		d = append(d, flat.Change{Key: key, From: string(before), To: string(after)})
	})
	return d, err
}

func FuzzCompareConfigs(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, `{"a":1}`, `{"a":1`, `{"a"}`, `{"a":}`, `{"a\\\\":"}`, `{"a":[1,{"b":"\""}],"c":null}`, `{,}`,
		`{"a\\\\b":"x\"y","a\"":"\\","a\u0001":["]",{"k":",}"}],"same":"}"}`,
	} {
		f.Add(seed, `{"a":2}`)
		f.Add(seed, `{"a\\\\b":"x\"z","a\u0001":["]",{"k":".}"}],"same":"}","new\n":1}`)
	}
	f.Fuzz(func(t *testing.T, from, to string) {
		a, errA := flat.Parse([]byte(from))
		b, errB := flat.Parse([]byte(to))
		if errA != nil || errB != nil {
			_, _ = compared([]byte(from), []byte(to)) // it does not panic, and ends
			return
		}
		want := flat.Diff(a, b)
		got, err := compared(a.Canonical(), b.Canonical())
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("from %s to %s: %+v, %v, want %+v", from, to, got, err, want)
		}
	})
}

func TestCompareConfigs_RefusesWhatIsNoConfig(t *testing.T) {
	for _, text := range []string{``, `[]`, `{"a"}`, `{"a":1`, `null`, `{"a":]}`} {
		if _, err := compared([]byte(`{"a":2}`), []byte(text)); err == nil {
			t.Errorf("%s passes", text)
		}
	}
}
