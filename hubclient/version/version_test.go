package version_test

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/version"
)

func TestParse_ThreeNumbersAndOptionalPrerelease(t *testing.T) {
	for _, s := range []string{
		"0.0.0", "1.2.3", "10.20.30", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-0.3.7", "1.0.0-x.7.z.92", "1.0.0-x-y-z.--",
		"1.0.0-0", "1.0.0-0a", "1.0.0--", "1.0.0-00a", "99999999999999999999999.999999999999999999.99999999999999999",
		"1.0." + strings.Repeat("9", 60),
	} {
		if !version.Valid(s) {
			t.Errorf("%q is not valid", s)
		}
	}
	for _, s := range []string{
		"", "1", "1.2", "1.2.3.4", "v1.2.3", "V1.2.3", "=1.2.3", " 1.2.3", "1.2.3 ", "1.2.3\n", "01.2.3", "1.02.3", "1.2.03",
		"1.2.3+build", "1.2.3-rc+build", "1.2.3-", "1.2.3-.", "1.2.3-a.", "1.2.3-a..b", "1.2.3-01", "1.2.3-a.01", "1.2.3-é",
		"1.2.3-a_b", "-1.2.3", "+1.2.3", "1.-2.3", "1.2.x", "1.2.*", "^1.2.3", "~1.2.3", ">=1.2.3", "latest", "１.2.3",
		"1.0.0-" + strings.Repeat("a", 59),
	} {
		if version.Valid(s) {
			t.Errorf("%q is valid", s)
		}
	}
}

func TestParse_AtMost64Characters(t *testing.T) {
	s := "1.0.0-" + strings.Repeat("a", 58)
	if !version.Valid(s) || version.Valid(s+"a") {
		t.Errorf("with %d characters valid: %t, with one more: %t", len(s), version.Valid(s), version.Valid(s+"a"))
	}
}

func TestCompare_Precedence(t *testing.T) {
	ordered := []string{
		"0.0.0-0", "0.0.0", "0.0.1", "0.1.0", "0.9.9", "0.10.0",
		"1.0.0-0", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-99999999999999999999998", "1.0.0-99999999999999999999999",
		"1.0.0--", "1.0.0-A", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.1.0", "1.0.0-alpha.beta", "1.0.0-beta",
		"1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "2.0.0", "2.1.0", "2.1.1", "10.0.0",
		"18446744073709551615.0.0", "18446744073709551616.0.0", "100000000000000000000000000.0.0",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			want := min(max(i-j, -1), 1)
			if got := version.Compare(a, b); got != want {
				t.Errorf("Compare(%s, %s) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestIsPrerelease(t *testing.T) {
	for s, want := range map[string]bool{"1.0.0": false, "1.0.0-rc.1": true, "1.0.0-0": true} {
		if got := version.IsPrerelease(s); got != want {
			t.Errorf("IsPrerelease(%s) = %t", s, got)
		}
	}
}

var grammar = regexp.MustCompile(
	`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-([0-9A-Za-z-]+)(\.[0-9A-Za-z-]+)*)?$`)

// valid is the rule written down a second time.
func valid(s string) bool {
	if len(s) > 64 || !grammar.MatchString(s) {
		return false
	}
	_, prerelease, _ := strings.Cut(s, "-")
	for _, id := range strings.Split(prerelease, ".") {
		if len(id) > 1 && id[0] == '0' && strings.Trim(id, "0123456789") == "" {
			return false
		}
	}
	return true
}

// compare is precedence written down a second time, by whole numbers.
func compare(a, b string) int {
	numbersA, preA, hasA := strings.Cut(a, "-")
	numbersB, preB, hasB := strings.Cut(b, "-")
	if c := slices.CompareFunc(strings.Split(numbersA, "."), strings.Split(numbersB, "."), compareNumbers); c != 0 {
		return c
	}
	switch {
	case hasA && hasB:
		return slices.CompareFunc(strings.Split(preA, "."), strings.Split(preB, "."), compareIdentifiers)
	case hasA:
		return -1
	case hasB:
		return 1
	}
	return 0
}

func compareNumbers(a, b string) int {
	x, _ := new(big.Int).SetString(a, 10)
	y, _ := new(big.Int).SetString(b, 10)
	return x.Cmp(y)
}

func compareIdentifiers(a, b string) int {
	numericA, numericB := strings.Trim(a, "0123456789") == "", strings.Trim(b, "0123456789") == ""
	switch {
	case numericA && numericB:
		return compareNumbers(a, b)
	case numericA:
		return -1
	case numericB:
		return 1
	}
	return strings.Compare(a, b)
}

func FuzzVersion(f *testing.F) {
	f.Add("1.0.0", "1.0.0-rc.1")
	f.Add("1.0.0-alpha.01", "1.0")
	f.Add("1.0.0-2", "1.0.0-10+x")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range []string{a, b} {
			if version.Valid(s) != valid(s) {
				t.Fatalf("Valid(%q) = %t", s, version.Valid(s))
			}
		}
		if !valid(a) || !valid(b) {
			return
		}
		if got, want := version.Compare(a, b), compare(a, b); got != want {
			t.Fatalf("Compare(%q, %q) = %d, want %d", a, b, got, want)
		}
		if got := version.IsPrerelease(a); got != strings.Contains(a, "-") {
			t.Fatalf("IsPrerelease(%q) = %t", a, got)
		}
	})
}

func TestLatest_HighestRelease(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""}, {"", "1.0.0-rc", "1.0.0-rc"}, {"1.0.0", "1.0.1", "1.0.1"}, {"1.10.0", "1.9.0", "1.10.0"},
		{"1.0.0", "2.0.0-rc", "1.0.0"}, {"1.0.0-rc.2", "1.0.0-rc.10", "1.0.0-rc.10"}, {"2.0.0-rc", "1.0.0", "1.0.0"},
	} {
		if got, again := version.Latest(c.a, c.b), version.Latest(c.b, c.a); got != c.want || again != c.want {
			t.Errorf("of %q and %q the latest is %q, and %q the other way; want %q", c.a, c.b, got, again, c.want)
		}
	}
}

func TestBump(t *testing.T) {
	for _, c := range []struct{ from, patch, minor, major string }{
		{"1.2.3", "1.2.4", "1.3.0", "2.0.0"},
		{"0.9.99", "0.9.100", "0.10.0", "1.0.0"},
		{"1.2.3-rc.1", "1.2.3", "1.3.0", "2.0.0"},
		{"1.2.0-rc.1", "1.2.0", "1.2.0", "2.0.0"},
		{"1.0.0-rc.1", "1.0.0", "1.0.0", "1.0.0"},
		{"1.0.99999999999999999999", "1.0.100000000000000000000", "1.1.0", "2.0.0"},
	} {
		for part, want := range map[version.Part]string{version.Patch: c.patch, version.Minor: c.minor,
			version.Major: c.major} {
			if got := version.Bump(c.from, part); got != want || version.Compare(got, c.from) <= 0 {
				t.Errorf("Bump(%s, %s) = %s, want %s", c.from, part, got, want)
			}
		}
	}
}
