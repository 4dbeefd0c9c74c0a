package app

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

// completeWithin is how long a shell waits for what a hub knows. A hub that is
// slower completes nothing.
const completeWithin = 2 * time.Second

// Completion completes an argument or the value of a flag.
type Completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// FileNames leaves it to the shell to complete names of files.
func FileNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// Directories leaves it to the shell to complete directories.
func Directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// CompleteLocal completes the name of a local project, where none is given yet.
func (a *App) CompleteLocal(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.LocalNames(nil, nil, "")
}

// CompleteLocals completes the names of local projects that are not given yet.
func (a *App) CompleteLocals(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	names, directive := a.LocalNames(nil, nil, "")
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) }), directive
}

// LocalNames completes the value of a flag that names a local project.
func (a *App) LocalNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	ws, err := workspace.Find(a.Dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := ws.Projects()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// FromHub completes what a hub knows, and nothing where it cannot be asked.
func (a *App) FromHub(find func(ctx context.Context, hub *identity.Hub) ([]string, error)) Completion {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		a.Timeout = completeWithin
		ctx, cancel := context.WithTimeout(c.Context(), completeWithin)
		defer cancel()
		if err := a.readEnv(c); err == nil && a.env != "" && len(args) > 0 {
			_, _ = a.Local(ctx, args[0], a.Itself) // whose environment may name the hub
		}
		hub, err := a.Connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, err := find(ctx, hub)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// HubProjects completes the name of a project of the hub.
func (a *App) HubProjects() Completion {
	return a.FromHub(func(ctx context.Context, hub *identity.Hub) ([]string, error) {
		projects, err := hub.Projects(ctx, "")
		names := make([]string, len(projects))
		for i, p := range projects {
			names[i] = p.Project.String()
		}
		return names, err
	})
}

// FirstOnly completes the first argument alone.
func FirstOnly(complete Completion) Completion {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(c, args, typed)
	}
}

// CompleteOrigin completes the address of a hub that a token is stored for.
func (a *App) CompleteOrigin(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	logins, err := a.Logins()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var known []string
	for _, l := range logins.Logins {
		known = append(known, l.Origin)
	}
	return known, cobra.ShellCompDirectiveNoFileComp
}
