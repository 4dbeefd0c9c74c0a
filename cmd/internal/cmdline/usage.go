package cmdline

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// UsageError says that a command line makes no sense.
type UsageError struct {
	Reason error
	Hint   string // what to do, in words; "" for none
	Recipe []Line // command lines to run instead
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

// WithHint sets the hint, formatted like [fmt.Sprintf], and returns e.
func (e *UsageError) WithHint(format string, args ...any) *UsageError {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// UsageLines returns the lines to print for a usage error of the command at path. It
// formats the command lines of the recipe with format.
func UsageLines(err error, path string, format func(Line) string) []string {
	lines := []string{"error: " + err.Error()}
	if usage, ok := errors.AsType[*UsageError](err); ok {
		if usage.Hint != "" {
			lines = append(lines, "  hint: "+usage.Hint)
		}
		for _, l := range usage.Recipe {
			lines = append(lines, "  try: "+format(l))
		}
	}
	return append(lines, "  help: "+path+" --help")
}

// Exactly requires one argument for each name. Its error names the missing ones.
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
	near := nearestCommand(c, args[0])
	if near == "" {
		return Usagef("%s has no command %q", c.CommandPath(), args[0])
	}
	line := Of(c)
	line.Words = append(line.Words, near)
	return Usagef("%s has no command %q: did you mean %s?", c.CommandPath(), args[0], near).Try(line.With(args[1:]...))
}

// nearestCommand returns the subcommand of c that name is most likely a typo of, or "".
func nearestCommand(c *cobra.Command, name string) string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() { // else it is a topic of help
			names = append(names, sub.Name())
		}
	}
	return Nearest(name, names)
}

// FlagError returns the usage error for an error of pflag: it says which values the flag
// takes, or which flag was probably meant.
func FlagError(c *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return invalidValue(invalid)
	}
	noCommand, ok := errors.AsType[*UsageError](c.ValidateArgs(c.Flags().Args()))
	if ok && c.HasSubCommands() { // the flag is one of the command that was meant
		noCommand.Recipe = nil // which would lack the flags
		return noCommand
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
	expected := ""
	switch f.Value.Type() {
	case "bool":
		expected = "true or false"
	case "int", "int64":
		isNumber := !errors.Is(err, strconv.ErrSyntax) && !errors.Is(err, strconv.ErrRange)
		if !isNumber { // a number is rejected by the flag's own limits
			expected = "a whole number"
		}
	case "duration":
		expected = "a duration, such as 30s or 24h"
	}
	if expected == "" {
		return Usagef("--%s: %w", f.Name, errors.Unwrap(err)) // the flag's own error says which values it takes
	}
	return Usagef("--%s is %s, not %q", f.Name, expected, err.GetValue())
}
