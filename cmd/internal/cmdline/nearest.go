package cmdline

import "strings"

// Nearest returns the one of names that name is most likely a typo of, or "".
func Nearest(name string, names []string) string {
	best, least := "", 3
	for _, candidate := range names {
		if len(name) > 2*len(candidate) {
			continue // no typo, and it could be megabytes long
		}
		d := distance(strings.ToLower(name), strings.ToLower(candidate))
		// A short name with two typos cannot be recognized.
		if d < least && d <= len(candidate)/3 {
			best, least = candidate, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour that lead from a to b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
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
			cost := 1
			if from[i-1] == to[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}
