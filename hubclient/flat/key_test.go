package flat_test

import (
	"slices"
	"testing"

	"example.com/projecthub/hubclient/flat"
)

func TestKey_JoinsEscapedNames(t *testing.T) {
	for _, test := range []struct {
		path []string
		key  string
	}{
		{[]string{"a"}, "a"},
		{[]string{"a", "b"}, "a.b"},
		{[]string{"a.b", `c\d`}, `a\.b.c\\d`},
		{[]string{""}, ""},
		{[]string{"", ""}, "."},
		{[]string{`\`, ".", `\.`}, `\\.\..\\\.`},
	} {
		if got := flat.Key(test.path...); got != test.key {
			t.Errorf("Key(%q) = %q, want %q", test.path, got, test.key)
		}
		if got, err := flat.SplitKey(test.key); err != nil || !slices.Equal(got, test.path) {
			t.Errorf("SplitKey(%q) = %q, %v, want %q", test.key, got, err, test.path)
		}
	}
}

func TestKey_RejectsStrayBackslash(t *testing.T) {
	for _, key := range []string{`\`, `a\`, `a\b`, `a.\\\`, `\"`, `a\.b\`, `\é`} {
		if path, err := flat.SplitKey(key); err == nil {
			t.Errorf("SplitKey(%q) = %q", key, path)
		}
	}
}

func FuzzSplitKey(f *testing.F) {
	f.Add("a.b", "c")
	f.Add(`a\.b.\\`, `\`)
	f.Fuzz(func(t *testing.T, key, name string) {
		path, err := flat.SplitKey(key)
		if (err == nil) != validKey.MatchString(key) {
			t.Fatalf("SplitKey(%q): %v", key, err)
		}
		if err == nil && flat.Key(path...) != key {
			t.Errorf("the path %q of %q has the key %q", path, key, flat.Key(path...))
		}
		names := []string{name, key}
		if path, err := flat.SplitKey(flat.Key(names...)); err != nil || !slices.Equal(path, names) {
			t.Errorf("the key of %q splits into %q, %v", names, path, err)
		}
	})
}
