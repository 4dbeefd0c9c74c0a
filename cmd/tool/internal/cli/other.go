package cli

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/workspace"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version",
		Example: "  tool version --json",
		Args:    atMost(),
		RunE: a.run(func(context.Context, []string) error {
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
			}{toolVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH}
			return a.print("version", v, func(p *printer) { p.line("tool %s", v.Version) })
		}),
	}
}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "completion <shell>",
		Short:     "Print completion for bash, zsh, fish or powershell",
		Long:      "Print a script that makes a shell complete tool's commands, flags and local projects.\nBash needs the package bash-completion for it.",
		Example:   "  tool completion bash > /etc/bash_completion.d/tool\n  tool completion zsh > ~/.zfunc/_tool\n  tool completion fish > ~/.config/fish/completions/tool.fish\n  tool completion powershell >> $PROFILE",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s needs <shell>", c.CommandPath()).try("%s bash", c.CommandPath())
			}
			if err := atMost("<shell>")(c, args); err != nil {
				return err
			}
			return knownShell(args[0])
		},
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Out, true)
			case "zsh":
				return root.GenZshCompletion(a.Out)
			case "fish":
				return root.GenFishCompletion(a.Out, true)
			}
			return root.GenPowerShellCompletionWithDesc(a.Out)
		},
	}
}

// completeLocal completes the name of a local project, where none is given yet.
func (a *app) completeLocal(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.localNames(nil, nil, "")
}

// localNames completes the value of a flag that names a local project.
func (a *app) localNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	ws, err := workspace.Find(a.dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := ws.Projects()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func knownShell(name string) error {
	switch name {
	case "bash", "zsh", "fish", "powershell":
		return nil
	}
	return usagef("there is no completion for %q: bash, zsh, fish and powershell have one", name).try("tool completion bash")
}
