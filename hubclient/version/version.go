// Package version knows which texts are versions of a stack and which of two is
// the higher: Semantic Versioning 2.0.0 without build metadata, in full.
//
// It knows no stack, and nothing of what was published.
package version

import (
	"math/big"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// Rule says in words what a valid version looks like.
const Rule = "three numbers without leading zeros, like 1.4.0, and maybe a pre-release, like 1.4.0-rc.1; no v, no " +
	"+build, at most 64 characters"

const maxLength = 64

// Valid reports whether s is a version.
func Valid(s string) bool {
	// The canonical form fills up missing numbers and drops build metadata.
	return len(s) <= maxLength && semver.Canonical("v"+s) == "v"+s
}

// Compare returns -1, 0 or +1 as a precedes, equals or follows b in precedence, a
// and b being valid. Numbers may have any number of digits.
func Compare(a, b string) int { return semver.Compare("v"+a, "v"+b) }

// IsPrerelease reports whether the version s is one that precedes its release.
func IsPrerelease(s string) bool { return semver.Prerelease("v"+s) != "" }

// Latest returns which of two versions is the latest: the higher release, or the
// higher pre-release where neither is a release. Of "" and another it is the other.
func Latest(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	case IsPrerelease(a) != IsPrerelease(b):
		if IsPrerelease(a) {
			return b
		}
		return a
	case Compare(a, b) < 0:
		return b
	}
	return a
}

// Part is a part of a version that [Bump] raises.
type Part string

// The parts of a version.
const (
	Major Part = "major"
	Minor Part = "minor"
	Patch Part = "patch"
)

// Bump returns the lowest release above the valid version s in which part is raised, as
// package managers do: a pre-release of such a release becomes that release.
func Bump(s string, part Part) string {
	release, _, pre := strings.Cut(s, "-")
	n := strings.Split(release, ".")
	at := slices.Index([]Part{Major, Minor, Patch}, part)
	lower := n[at+1:]
	if !pre || slices.ContainsFunc(lower, func(number string) bool { return number != "0" }) {
		number, _ := new(big.Int).SetString(n[at], 10) // of any length
		n[at] = number.Add(number, big.NewInt(1)).String()
	}
	for i := range lower {
		lower[i] = "0"
	}
	return strings.Join(n, ".")
}
