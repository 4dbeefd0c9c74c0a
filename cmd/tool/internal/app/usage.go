package app

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/tree"
)

// Optional is a text flag that knows whether it was given.
type Optional struct{ Value *string }

// Set sets the value.
func (o *Optional) Set(s string) error { o.Value = &s; return nil }

// Type returns the type that help shows.
func (o *Optional) Type() string { return "string" }

// Given reports whether the flag was given.
func (o *Optional) Given() bool { return o.Value != nil }

func (o *Optional) String() string {
	if o.Value == nil {
		return ""
	}
	return *o.Value
}

// MaybeLocal allows the name of a local project. An empty one is a variable that
// was not set, and never means a project.
func MaybeLocal(c *cobra.Command, args []string) error {
	if len(args) > 0 && args[0] == "" {
		return EmptyLocal("<project>")
	}
	return cmdline.AtMost("<project>")(c, args)
}

// EmptyLocal is the usage error of a local project whose name is empty.
func EmptyLocal(what string) error {
	return cmdline.Usagef("%s is empty: it is a directory under .tool", what)
}

// Locals allows the names of any number of local projects, each once.
func Locals(c *cobra.Command, args []string) error {
	for i, name := range args {
		if name == "" {
			return EmptyLocal("<project>")
		}
		if slices.Contains(args[:i], name) {
			return cmdline.Usagef("%s is given twice", name)
		}
	}
	return nil
}

// minRevision is how many digits an abbreviated revision has at least.
const minRevision = 4

// CheckRevision refuses what is neither a number such as r12 nor a revision, in full or
// abbreviated. It is called name.
func CheckRevision(name, typed string) error {
	number, isNumber := strings.CutPrefix(typed, "r")
	isNumber = isNumber && number != "" && strings.Trim(number, "0123456789") == ""
	isDigest := len(typed) >= minRevision && len(typed) <= tree.DigestSize && strings.Trim(typed, "0123456789abcdef") == ""
	if isNumber || isDigest {
		return nil
	}
	return cmdline.Usagef("%s is a number such as r12, or %d to %d lower-case hex digits of a revision, "+
		"as tool log lists them, not %q", name, minRevision, tree.DigestSize, typed)
}
