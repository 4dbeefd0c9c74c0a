package cmdline

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// UsageError is a command line that makes no sense.
type UsageError struct {
	Reason error
	Hint   string
	Recipe []Line // the command lines that would
}

func (e *UsageError) Error() string { return e.Reason.Error() }

// Unwrap returns the reason.
func (e *UsageError) Unwrap() error { return e.Reason }

// Usagef returns a usage error with a reason, formatted like [fmt.Errorf].
func Usagef(format string, args ...any) *UsageError {
	return &UsageError{Reason: fmt.Errorf(format, args...)}
}

// Try adds command lines to the recipe and returns e.
func (e *UsageError) Try(lines ...Line) *UsageError {
	e.Recipe = append(e.Recipe, lines...)
	return e
}

// WithHint adds what would help, in words, and returns e.
func (e *UsageError) WithHint(format string, args ...any) *UsageError {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// UsageLines returns what is printed for a usage error of the command at path.
// quote returns a line of the recipe as text.
func UsageLines(err error, path string, quote func(Line) string) []string {
	lines := []string{"error: " + err.Error()}
	if usage, ok := errors.AsType[*UsageError](err); ok {
		if usage.Hint != "" {
			lines = append(lines, "  hint: "+usage.Hint)
		}
		for _, l := range usage.Recipe {
			lines = append(lines, "  try: "+quote(l))
		}
	}
	return append(lines, "  help: "+path+" --help")
}

// Exactly requires one argument for each name, and names those that are missing.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return Usagef("%s needs %s", c.CommandPath(), strings.Join(names[len(args):], " and "))
		}
		return AtMost(names...)(c, args)
	}
}

// AtMost allows one argument for each name.
func AtMost(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > len(names) {
			return Usagef("%s does not take %q", c.CommandPath(), args[len(names)])
		}
		return nil
	}
}

// NoCommand rejects an argument where a command was expected, and suggests the
// command that was probably meant.
func NoCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	near := Nearest(args[0], names)
	if near == "" {
		return Usagef("%s has no command %q", c.CommandPath(), args[0])
	}
	line := Of(c)
	line.Words = append(line.Words, near)
	return Usagef("%s has no command %q: did you mean %s?", c.CommandPath(), args[0], near).Try(line.With(args[1:]...))
}

// FlagError says what is wrong with a flag: which values it takes, or which flag was
// probably meant.
func FlagError(c *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return invalidValue(invalid)
	}
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: "); ok {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		if near := Nearest(name, names); near != "" {
			return Usagef("%w: did you mean %s?", err, near)
		}
	}
	return Usagef("%w", err)
}

func invalidValue(err *pflag.InvalidValueError) error {
	f := err.GetFlag()
	switch f.Value.Type() {
	case "bool":
		return Usagef("--%s is true or false, not %q", f.Name, err.GetValue())
	case "int", "int64":
		if errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange) { // not the flag's own limits
			return Usagef("--%s is a whole number, not %q", f.Name, err.GetValue())
		}
	case "duration":
		return Usagef("--%s is a duration, such as 30s or 24h, not %q", f.Name, err.GetValue())
	}
	return Usagef("--%s: %w", f.Name, errors.Unwrap(err)) // the flag itself says which values it takes
}
