package api

import (
	"regexp"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxSlug leaves room within the 64 characters of a slug for a number such as -37.
const maxSlug = 58

var (
	marks    = regexp.MustCompile(`[\p{Mn}'’]+`)
	notSlug  = regexp.MustCompile(`[^a-z0-9]+`)
	hasLatin = regexp.MustCompile(`[a-z]`)
)

// slugOf returns a valid slug of at most 58 characters that is like title, or api
// when title has no Latin letter.
func slugOf(title string) string {
	title = title[:min(len(title), 4*64*maxSlug)]
	plain := marks.ReplaceAllString(cases.Fold().String(norm.NFKD.String(title)), "")
	slug := strings.Trim(notSlug.ReplaceAllString(plain, "-"), "-")
	slug = strings.Trim(slug[:min(len(slug), maxSlug)], "-")
	if !hasLatin.MatchString(slug) {
		return "api"
	}
	return slug
}
