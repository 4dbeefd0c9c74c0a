package cmdline

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const helpColumns = 80

// SetHelp sets the form of help of root and its commands, which lists commands in the order in which they were
// added; exitCodes is its last line. Cobra's template is not used, because parsing it takes longer than everything
// else that showing help does.
func SetHelp(root *cobra.Command, exitCodes string) {
	usage := func(c *cobra.Command) string { return usageText(c) + "\n\n" + exitCodes + "\n" }
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := io.WriteString(c.OutOrStderr(), usage(c))
		return err
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		_, _ = io.WriteString(c.OutOrStdout(), cmp.Or(c.Long, c.Short)+"\n\n"+usage(c))
	})
}

func init() { cobra.EnableCommandSorting = false }

// AddGroup adds commands, which help lists below a title.
func AddGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
		root.AddCommand(c)
	}
}

// usageText is what help has below a command's description.
func usageText(c *cobra.Command) string {
	var b strings.Builder
	entry := func(before string, c *cobra.Command) {
		fmt.Fprintf(&b, "\n  %s%-*s %s", before, c.NamePadding(), c.Name(), c.Short)
	}
	flags := func(title string, flags *pflag.FlagSet) {
		b.WriteString("\n\n" + title + ":\n" + strings.TrimRight(flags.FlagUsagesWrapped(helpColumns), " \n"))
	}
	b.WriteString("Usage:\n  ")
	if c.HasAvailableSubCommands() {
		b.WriteString(c.CommandPath() + " <command>")
		groups := c.Groups()
		if len(groups) == 0 {
			groups = []*cobra.Group{{Title: "Commands:"}}
		}
		for _, group := range groups {
			b.WriteString("\n\n" + group.Title)
			for _, sub := range c.Commands() {
				if sub.IsAvailableCommand() && sub.GroupID == group.ID {
					entry("", sub)
				}
			}
		}
	} else {
		b.WriteString(c.UseLine())
	}
	if c.HasExample() {
		b.WriteString("\n\nExamples:\n" + c.Example)
	}
	if c.HasAvailableLocalFlags() {
		flags("Flags", c.LocalFlags())
	}
	if c.HasAvailableInheritedFlags() {
		flags("Flags of every command", c.InheritedFlags())
	}
	if c.HasHelpSubCommands() {
		b.WriteString("\n\nMore help:")
		for _, sub := range c.Commands() {
			if sub.IsAdditionalHelpTopicCommand() {
				entry(c.Root().Name()+" help ", sub)
			}
		}
	}
	return b.String()
}
