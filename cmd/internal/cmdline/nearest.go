package cmdline

import "strings"

// Nearest returns the one of names that name is most likely a typo of, or "".
func Nearest(name string, names []string) string {
	const maxTypos = 2
	best, fewest := "", maxTypos+1
	for _, candidate := range names {
		if len(name) > 2*len(candidate) {
			continue // too long to be a typo; comparing megabytes would take long
		}
		typos := distance(strings.ToLower(name), strings.ToLower(candidate))
		recognizable := typos <= len(candidate)/3
		if typos < fewest && recognizable {
			best, fewest = candidate, typos
		}
	}
	return best
}

// distance returns how many letters have to be inserted, deleted, replaced or swapped with
// their neighbour to turn a into b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	// rows[i][j] is the distance from from[:i] to to[:j].
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			replace := 1
			if from[i-1] == to[j-1] {
				replace = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+replace)
			swapped := i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1]
			if swapped {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}
