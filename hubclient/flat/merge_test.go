package flat_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
)

func TestMerge(t *testing.T) {
	for name, c := range map[string]struct {
		base, mine, theirs string // "-": no base
		want               string // with my side of each conflict
		conflicts          []flat.Conflict
	}{
		"other keys": {`{"a": 1, "b": 1, "c": 1}`, `{"a": 2, "b": 1}`, `{"a": 1, "b": 2, "c": 1, "d": 1}`,
			`{"a":2,"b":2,"d":1}`, nil},
		"the same change": {`{"a": 1, "b": 1}`, `{"a": 2}`, `{"a": 2}`, `{"a":2}`, nil},
		"the same key":    {`{"a": 1}`, `{"a": 2}`, `{"a": 3}`, `{"a":2}`, []flat.Conflict{{"a", "1", "2", "3"}}},
		"added on both sides": {`{}`, `{"a": {"b": 2}}`, `{"a": {"b": 3}}`, `{"a.b":2}`,
			[]flat.Conflict{{"a.b", "", "2", "3"}}},
		"changed and deleted": {`{"a": 1}`, `{"a": 2}`, `{}`, `{"a":2}`, []flat.Conflict{{"a", "1", "2", ""}}},
		"deleted and changed": {`{"a": 1}`, `{}`, `{"a": 2}`, `{}`, []flat.Conflict{{"a", "1", "", "2"}}},
		"no base": {"-", `{"a": 1, "b": 1}`, `{"a": 1, "c": 1}`, `{"a":1,"b":1}`,
			[]flat.Conflict{{"b", "", "1", ""}, {"c", "", "", "1"}}},
		"a value and keys": {`{}`, `{"a": 1}`, `{"a": {"b": 1, "c": 2}}`, `{"a":1}`,
			[]flat.Conflict{{"a", "", "1", `{"b":1,"c":2}`}}},
		"a value for old keys": {`{"a": {"b": 1}}`, `{"a": 1}`, `{}`, `{"a":1}`, nil},
		"a value and new keys": {`{"a": {"b": 1}}`, `{"a": 1}`, `{"a": {"b": 1, "c": 1}}`, `{"a":1}`,
			[]flat.Conflict{{"a", `{"b":1}`, "1", `{"b":1,"c":1}`}}},
		"keys for a value": {`{"a": 1}`, `{"a": {"b": 1}}`, `{"a": {"c": 1}}`, `{"a.b":1,"a.c":1}`, nil},
		"an array": {`{"a": [1]}`, `{"a": [1, 2]}`, `{"a": [1, 3]}`, `{"a":[1,2]}`,
			[]flat.Conflict{{"a", "[1]", "[1,2]", "[1,3]"}}},

		"records": {
			`{"enrichments": [{"id": "b"}, {"id": "a"}, {"id": "old"}]}`,
			`{"enrichments": [{"id": "b"}, {"id": "a", "label": "A"}, {"id": "old"}, {"id": "y"}]}`,
			`{"enrichments": [{"id": "x"}, {"id": "b", "label": "B"}, {"id": "a"}, {"id": "z"}]}`,
			`{"enrichments":[{"id":"b","label":"B"},{"id":"a","label":"A"},{"id":"y"},{"id":"x"},{"id":"z"}]}`, nil,
		},
		"records by target": {
			`{"enrichments": [{"target": "a"}]}`, `{"enrichments": [{"target": "a"}, {"target": "b"}]}`,
			`{"enrichments": [{"target": "c"}, {"target": "a"}]}`,
			`{"enrichments":[{"target":"a"},{"target":"b"},{"target":"c"}]}`, nil,
		},
		"the same record": {
			`{"enrichments": [{"id": "a.b"}]}`, `{"enrichments": [{"id": "a.b", "x": 1}]}`,
			`{"enrichments": [{"id": "a.b", "x": 2}]}`,
			`{"enrichments":[{"id":"a.b","x":1}]}`,
			[]flat.Conflict{{`enrichments.a\.b`, `{"id":"a.b"}`, `{"id":"a.b","x":1}`, `{"id":"a.b","x":2}`}},
		},
		"records that one side moved": {
			`{"enrichments": [{"id": 1}, {"id": 2}, {"id": 3}]}`, `{"enrichments": [{"id": 3}, {"id": 1}, {"id": 2}]}`,
			`{"enrichments": [{"id": 0}, {"id": 1}, {"id": 9}, {"id": 3}]}`,
			`{"enrichments":[{"id":3},{"id":1},{"id":0},{"id":9}]}`, nil,
		},
		"records that the other side moved": {
			`{"enrichments": [{"id": 1}, {"id": 2}]}`, `{"enrichments": [{"id": 1}, {"id": 9}, {"id": 2}]}`,
			`{"enrichments": [{"id": 2}, {"id": 1}]}`,
			`{"enrichments":[{"id":2},{"id":1},{"id":9}]}`, nil,
		},
		"records that both sides moved": {
			`{"enrichments": [{"id": 1}, {"id": 2}, {"id": 3}]}`, `{"enrichments": [{"id": 3}, {"id": 1}, {"id": 2}]}`,
			`{"enrichments": [{"id": 2}, {"id": 1}, {"id": 3}]}`,
			`{"enrichments":[{"id":3},{"id":1},{"id":2}]}`, nil,
		},
		"records without a unique id": {
			`{"enrichments": []}`, `{"enrichments": [{"id": 1}]}`, `{"enrichments": [{"id": 2}, {"id": 2}]}`,
			`{"enrichments":[{"id":1}]}`, []flat.Conflict{{"enrichments", `[]`, `[{"id":1}]`, `[{"id":2},{"id":2}]`}},
		},
		"records elsewhere": {
			`{"a": []}`, `{"a": [{"id": 1}]}`, `{"a": [{"id": 2}]}`,
			`{"a":[{"id":1}]}`, []flat.Conflict{{"a", `[]`, `[{"id":1}]`, `[{"id":2}]`}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var base *flat.Config
			if c.base != "-" {
				b := fold(t, c.base)
				base = &b
			}
			merged, conflicts := flat.Merge(base, fold(t, c.mine), fold(t, c.theirs), nil)
			if got := string(merged.Canonical()); got != c.want {
				t.Errorf("merged to %s\nwant      %s", got, c.want)
			}
			if diff := cmp.Diff(c.conflicts, []flat.Conflict(conflicts)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConflicts_MarshalJSON(t *testing.T) {
	text, err := flat.Conflicts{{"a.b", "1", `"x"`, ""}, {"c", "", "null", "[1]"}}.MarshalJSON()
	if want := `{"a.b":{"base":1,"mine":"x"},"c":{"mine":null,"theirs":[1]}}`; err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}

// mergeConfig is a config of a random merge: values by key. Enrichments are records by
// their ids, in an order.
type mergeConfig struct {
	values map[string]string
	ids    []string // nil: there are no enrichments
}

// mergeKeys are such that often one is below another.
var mergeKeys = []string{"a", "a.a", "a.b", "a.b.a", "a.b.b", "a-", "b", "b.a", "b.a.a", "c"}

func randomMergeConfig(r *rand.Rand) mergeConfig {
	c := mergeConfig{values: map[string]string{}}
	for range r.IntN(6) {
		c.set(mergeKeys[r.IntN(len(mergeKeys))], r)
	}
	if r.IntN(2) == 0 {
		c.ids = []string{}
		for range r.IntN(4) {
			c.insert(r)
		}
	}
	return c
}

// set sets a key, and removes those that cannot be there with it.
func (c *mergeConfig) set(key string, r *rand.Rand) {
	maps.DeleteFunc(c.values, func(k, _ string) bool {
		return strings.HasPrefix(k, key+".") || strings.HasPrefix(key, k+".")
	})
	c.values[key] = []string{"1", "2", "{}", "[1]"}[r.IntN(4)]
}

func (c *mergeConfig) insert(r *rand.Rand) {
	id := string(rune('p' + r.IntN(6)))
	if !slices.Contains(c.ids, id) {
		c.ids = slices.Insert(c.ids, r.IntN(len(c.ids)+1), id)
	}
	c.values[recordKey(id)] = c.record(id, r)
}

func recordKey(id string) string { return "enrichments." + id }

func (c *mergeConfig) record(id string, r *rand.Rand) string {
	return fmt.Sprintf(`{"id":%q,"n":%d}`, id, r.IntN(2))
}

// edited returns a config with some changes.
func (c mergeConfig) edited(r *rand.Rand) mergeConfig {
	c = mergeConfig{maps.Clone(c.values), slices.Clone(c.ids)}
	for range r.IntN(4) {
		key := mergeKeys[r.IntN(len(mergeKeys))]
		switch kind := r.IntN(6); {
		case kind < 2:
			c.set(key, r)
		case kind == 2:
			delete(c.values, key)
		case c.ids == nil:
		case kind == 3:
			c.insert(r)
		case len(c.ids) == 0:
		case kind == 4:
			i := r.IntN(len(c.ids))
			delete(c.values, recordKey(c.ids[i]))
			c.ids = slices.Delete(c.ids, i, i+1)
		default:
			i, j := r.IntN(len(c.ids)), r.IntN(len(c.ids))
			c.ids[i], c.ids[j] = c.ids[j], c.ids[i]
		}
	}
	return c
}

// list returns the enrichments as one array.
func (c mergeConfig) list() string {
	var list []string
	for _, id := range c.ids {
		list = append(list, c.values[recordKey(id)])
	}
	return "[" + strings.Join(list, ",") + "]"
}

// whole returns the values with the enrichments as one.
func (c mergeConfig) whole() map[string]string {
	values := maps.Clone(c.values)
	maps.DeleteFunc(values, func(key, _ string) bool { return strings.HasPrefix(key, "enrichments.") })
	if c.ids != nil {
		values["enrichments"] = c.list()
	}
	return values
}

func (c mergeConfig) config(t testing.TB) flat.Config {
	t.Helper()
	var members []string
	for key, value := range c.whole() {
		members = append(members, fmt.Sprintf("%q:%s", key, value))
	}
	return parse(t, "{"+strings.Join(members, ",")+"}")
}

// naiveMerge merges values key by key. It returns what no side disputes, and the keys that
// are disputed: those that both sides changed differently, and those that cannot be there
// with another key that may be there.
func naiveMerge(base map[string]string, known bool, mine, theirs map[string]string) (merged map[string]string,
	disputed []string) {
	merged = map[string]string{}
	may := map[string]bool{} // be in the result
	all := map[string]bool{}
	for _, values := range []map[string]string{base, mine, theirs} {
		for key := range values {
			all[key] = true
		}
	}
	conflicts := map[string]bool{}
	for key := range all {
		b, m, t := base[key], mine[key], theirs[key]
		switch {
		case m == t || known && b == t:
			merged[key] = m
		case known && b == m:
			merged[key] = t
		default:
			conflicts[key] = true
			may[key] = true
		}
		if merged[key] == "" {
			delete(merged, key)
		} else {
			may[key] = true
		}
	}
	below := func(key, above string) bool {
		return strings.HasPrefix(key, above+".") && !strings.HasPrefix(key, "enrichments.")
	}
	for above := range may {
		for key := range may {
			if below(key, above) {
				conflicts[above] = true
			}
		}
	}
	for key := range conflicts {
		covered := false
		for above := range conflicts {
			covered = covered || below(key, above)
		}
		if !covered {
			disputed = append(disputed, key)
		}
	}
	maps.DeleteFunc(merged, func(key, _ string) bool {
		return slices.ContainsFunc(disputed, func(above string) bool { return key == above || below(key, above) })
	})
	slices.Sort(disputed)
	return merged, disputed
}

func TestMerge_RandomMerges(t *testing.T) {
	var seen [2]atomic.Int64 // without and with conflicts
	eachRandomOf(t, 5**objects, func(t *testing.T, r *rand.Rand) error {
		base := randomMergeConfig(r)
		mine, theirs := base.edited(r), base.edited(r)
		if r.IntN(8) == 0 {
			theirs = randomMergeConfig(r)
		}
		known := r.IntN(6) > 0
		if !known {
			base = mergeConfig{}
		}
		conflicts, err := checkMerge(t, base, mine, theirs, known)
		seen[min(1, conflicts)].Add(1)
		if err != nil {
			return fmt.Errorf("known %t\nbase   %v %v\nmine   %v %v\ntheirs %v %v\n%w",
				known, base.values, base.ids, mine.values, mine.ids, theirs.values, theirs.ids, err)
		}
		return nil
	})
	t.Logf("%d merges without conflicts, %d with", seen[0].Load(), seen[1].Load())
	if seen[0].Load() < int64(*objects) || seen[1].Load() < int64(*objects)/2 {
		t.Error("the random merges are one-sided")
	}
}

// checkMerge compares a merge with the naive one, and with that of the sides swapped, whose
// records may be in another order. It returns the number of conflicts.
func checkMerge(t testing.TB, base, mine, theirs mergeConfig, known bool) (int, error) {
	my, their := mine.config(t), theirs.config(t)
	var from *flat.Config
	if known {
		b := base.config(t)
		from = &b
	}
	merged, conflicts := flat.Merge(from, my, their, nil)
	swapped, mirrored := flat.Merge(from, their, my, func(flat.Conflict) flat.Side { return flat.Theirs })
	for i := range mirrored {
		mirrored[i].Mine, mirrored[i].Theirs = mirrored[i].Theirs, mirrored[i].Mine
	}
	// Enrichments are merged record by record where both sides have some.
	records := mine.ids != nil && theirs.ids != nil
	if !maps.Equal(valuesOf(t, merged, records), valuesOf(t, swapped, records)) || !slices.Equal(conflicts, mirrored) {
		return 0, fmt.Errorf("merged to %s, %v\nswapped   %s, %v", merged.Canonical(), conflicts, swapped.Canonical(),
			mirrored)
	}
	if again, err := flat.Parse(merged.Canonical()); err != nil || string(again.Unfold()) != string(merged.Unfold()) {
		return 0, fmt.Errorf("merged to %s, which is %s, %v", merged.Canonical(), again.Canonical(), err)
	}
	values := mergeConfig.whole
	if records {
		values = func(c mergeConfig) map[string]string { return c.values }
	}
	want, disputed := naiveMerge(values(base), known, values(mine), values(theirs))
	var keys []string
	for _, c := range conflicts {
		keys = append(keys, c.Key)
		if v := values(mine)[c.Key]; v != "" && v != c.Mine {
			return 0, fmt.Errorf("conflict %+v", c)
		}
	}
	slices.Sort(keys)
	if !slices.Equal(keys, disputed) {
		return 0, fmt.Errorf("conflicts %q\nwant      %q", keys, disputed)
	}
	for _, key := range disputed { // resolved as mine
		for k, v := range values(mine) {
			if k == key || strings.HasPrefix(k, key+".") {
				want[k] = v
			}
		}
	}
	if got := valuesOf(t, merged, records); !maps.Equal(got, want) {
		return 0, fmt.Errorf("merged to %v\nwant      %v", got, want)
	}
	return len(conflicts), nil
}

// valuesOf returns the values of a config by key, the enrichments as records or as one value.
func valuesOf(t testing.TB, c flat.Config, records bool) map[string]string {
	values := map[string]string{}
	for _, key := range c.Keys() {
		values[key], _ = c.Get(key)
	}
	if list, ok := values["enrichments"]; ok && records {
		delete(values, "enrichments")
		for _, record := range decode(t, []byte(list)).([]any) {
			values[recordKey(record.(map[string]any)["id"].(string))] = naiveCanonical(record)
		}
	}
	return values
}
