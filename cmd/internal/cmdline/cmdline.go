// Package cmdline is what the command lines of tool and hub have in common: usage
// errors, argument counts, flags from the environment, group commands, the version,
// command lines to print, quoted for the shell, and shortened lists of names.
//
// It runs nothing and does not know which commands exist.
package cmdline

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Version returns the version that was set at build time, else that of the module.
func Version(set string) string {
	if set != "" {
		return set
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "0.0.0-dev"
}

// Of returns the line of a command, without arguments and flags.
func Of(c *cobra.Command) Line {
	words := strings.Fields(c.CommandPath())
	return Line{Program: words[0], Words: words[1:]}
}

// Command returns a command that runs run. The words of use between its name and the
// first flag are its operands: it needs each of them, and takes no other.
func Command(use, short string, run func(c *cobra.Command, args []string) error) *cobra.Command {
	operands := strings.Fields(use)[1:]
	isFlag := func(word string) bool { return strings.HasPrefix(strings.TrimPrefix(word, "["), "-") }
	if firstFlag := slices.IndexFunc(operands, isFlag); firstFlag >= 0 {
		operands = operands[:firstFlag]
	}
	return &cobra.Command{Use: use, Short: short, Args: Exactly(operands...), RunE: run}
}

// Topic returns a command that only has help: a text, which no other command reads.
func Topic(name, short string, text func() string) *cobra.Command {
	topic := &cobra.Command{Use: name, Short: short}
	topic.SetHelpFunc(func(c *cobra.Command, _ []string) { _, _ = fmt.Fprintln(c.OutOrStdout(), text()) })
	return topic
}

// Help returns a command that shows the help of a command or a topic of root, and rejects
// a name that is neither.
func Help(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [<command>]",
		Short: "Show the help of a command or a topic",
		Args: func(_ *cobra.Command, args []string) error {
			found, rest, _ := root.Find(args)
			if len(rest) == 0 {
				return nil
			}
			line := Of(found)
			line.Words = append([]string{"help"}, line.Words...)
			unknown := found.CommandPath() + " " + rest[0]
			near := nearestCommand(found, rest[0])
			if near == "" {
				return Usagef("there is no help for %q", unknown).Try(line)
			}
			return Usagef("there is no help for %q: did you mean %s?", unknown, near).Try(line.With(near))
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			found, _, _ := root.Find(args)
			var names []string
			for _, c := range found.Commands() {
				if !c.Hidden {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			found, _, _ := root.Find(args)
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// Group returns a command that only holds others. Alone it shows its help, or fails
// where one JSON document is expected.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  NoCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			asJSON, _ := c.Flags().GetBool("json") // false for a group without this flag
			if !asJSON {
				return c.Help()
			}
			list := Of(c)
			list.Words = append(list.Words, "list")
			return Usagef("%s needs a command", c.CommandPath()).Try(list.Flag("--json"))
		},
	}
	group.AddCommand(commands...)
	return group
}

// Variable returns the name of the variable that sets a flag, such as HUB_PUBLIC_URL.
func Variable(prefix, flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// FromEnvironment sets every flag that was not given from its [Variable]. An empty
// variable counts as unset. The variable of a flag that can be repeated contains its
// values, separated by commas.
func FromEnvironment(c *cobra.Command, prefix string, getenv func(string) string) error {
	var err error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name := Variable(prefix, f.Name)
		value := getenv(name)
		given := f.Changed
		if value == "" || given || err != nil {
			return
		}
		values := []string{value}
		if f.Value.Type() == "stringArray" {
			values = strings.Split(value, ",")
		}
		for _, v := range values {
			if invalid := c.Flags().Set(f.Name, v); invalid != nil {
				err = Usagef("%s: %w", name, FlagError(c, invalid))
				return
			}
		}
	})
	return err
}
