// Package version knows which texts are versions of a stack and which of two is
// the higher: Semantic Versioning 2.0.0 without build metadata, in full.
//
// It knows no stack, and nothing of what was published.
package version

import "golang.org/x/mod/semver"

// Rule says in words what a valid version looks like.
const Rule = "three numbers without leading zeros, like 1.4.0, and maybe a pre-release, like 1.4.0-rc.1; no v, no +build, at most 64 characters"

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
