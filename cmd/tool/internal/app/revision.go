package app

import (
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/tree"
)

// minRevision is how many digits an abbreviated revision has at least.
const minRevision = 4

// CheckRevision refuses what is no revision, in full or abbreviated. It is called name.
func CheckRevision(name, typed string) error {
	if len(typed) < minRevision || len(typed) > tree.DigestSize || strings.Trim(typed, "0123456789abcdef") != "" {
		return cmdline.Usagef("%s is a revision of %d to %d lower-case hex digits, such as tool log shows, not %q", name, minRevision, tree.DigestSize, typed)
	}
	return nil
}
