package app

import (
	"slices"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
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
