package cli

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/identity"
)

// helpCommand shows the help of a command or a topic, and refuses what is neither.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [<command>]",
		Short: "Show the help of a command or a topic",
		Args: func(_ *cobra.Command, args []string) error {
			found, rest, _ := root.Find(args)
			return cmdline.NoCommand(found, rest)
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
			found, _, err := root.Find(args)
			if err != nil {
				return err
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// writeHelp writes a command's description and how it is used, or a topic. It is
// code where cobra has a template, which takes longer to read than all else that
// showing help does.
func writeHelp(w io.Writer, c *cobra.Command) error {
	text := c.Long
	if text == "" {
		text = c.Short
	}
	if _, err := fmt.Fprintln(w, text); err != nil || !c.Runnable() && !c.HasSubCommands() {
		return err
	}
	fmt.Fprintln(w)
	return writeUsage(w, c)
}

// writeUsage is what help has below a command's description.
func writeUsage(w io.Writer, c *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n  ")
	if c.HasAvailableSubCommands() {
		b.WriteString(c.CommandPath() + " <command>")
		writeCommands(&b, c)
	} else {
		b.WriteString(c.UseLine())
	}
	if c.HasExample() {
		b.WriteString("\n\nExamples:\n" + c.Example)
	}
	if c.HasAvailableLocalFlags() {
		b.WriteString("\n\nFlags:\n" + strings.TrimRight(c.LocalFlags().FlagUsagesWrapped(helpColumns), " \n"))
	}
	if c.HasAvailableInheritedFlags() {
		b.WriteString("\n\nFlags of every command:\n" + strings.TrimRight(c.InheritedFlags().FlagUsagesWrapped(helpColumns), " \n"))
	}
	if c.HasHelpSubCommands() {
		b.WriteString("\n\nMore help:")
		for _, sub := range c.Commands() {
			if sub.IsAdditionalHelpTopicCommand() {
				writeEntry(&b, "tool help ", sub)
			}
		}
	}
	b.WriteString("\n\nExit codes: 0 done, 1 failed, 2 usage; more in tool help exit-codes\n")
	_, err := io.WriteString(w, b.String())
	return err
}

const helpColumns = 80

// writeCommands lists what a command holds, by groups where it has any.
func writeCommands(b *strings.Builder, c *cobra.Command) {
	groups := c.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands:"}}
	}
	for _, group := range groups {
		b.WriteString("\n\n" + group.Title)
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() && sub.GroupID == group.ID {
				writeEntry(b, "", sub)
			}
		}
	}
}

func writeEntry(b *strings.Builder, before string, c *cobra.Command) {
	fmt.Fprintf(b, "\n  %s%-*s %s", before, c.NamePadding(), c.Name(), c.Short)
}

//go:embed guide
var guides embed.FS

// topics returns the help that belongs to no command.
func topics() []*cobra.Command {
	list := []*cobra.Command{
		{Use: "environment", Short: "Environment variables"},
		{Use: "exit-codes", Short: "Exit codes and stages"},
		{Use: "results", Short: "JSON results"},
	}
	for _, topic := range list {
		text, err := guides.ReadFile("guide/" + topic.Use + ".txt")
		if err != nil {
			panic(err)
		}
		topic.Long = strings.Replace(strings.TrimSpace(string(text)), "DEFAULT_ORIGIN", identity.DefaultOrigin, 1)
	}
	return list
}
