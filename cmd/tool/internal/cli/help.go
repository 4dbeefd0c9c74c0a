package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/guide"
	"example.com/projecthub/cmd/tool/internal/identity"
)

// helpText is a command's description and how it is used. Cobra's template is not
// used, because parsing it takes longer than everything else that showing help does.
func helpText(c *cobra.Command) string {
	return cmp.Or(c.Long, c.Short) + "\n\n" + usageText(c)
}

const helpColumns = 80

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
				entry("tool help ", sub)
			}
		}
	}
	b.WriteString("\n\nExit codes: 0 done, 1 failed, 2 usage; more in tool help exit-codes\n")
	return b.String()
}

// topics returns the help that belongs to no command.
func topics() []*cobra.Command {
	var list []*cobra.Command
	for _, g := range guide.All {
		list = append(list, cmdline.Topic(g.Name, g.Short, func() string {
			return strings.ReplaceAll(g.Text(), "DEFAULT_ORIGIN", identity.DefaultOrigin)
		}))
	}
	return list
}
