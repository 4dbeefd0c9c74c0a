package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/wire"
)

// completeWithin is how long a shell waits for what a hub knows. A hub that is
// slower completes nothing.
const completeWithin = 2 * time.Second

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// fileNames and directories leave it to the shell to complete names.
func fileNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
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

// fromHub completes what a hub knows, and nothing where it cannot be asked.
func (a *app) fromHub(find func(ctx context.Context, hub *identity.Hub) ([]string, error)) completion {
	return func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		a.timeout = completeWithin
		ctx, cancel := context.WithTimeout(c.Context(), completeWithin)
		defer cancel()
		hub, err := a.connect()
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

// hubProjects completes the name of a project of the hub.
func (a *app) hubProjects() completion {
	return a.fromHub(func(ctx context.Context, hub *identity.Hub) ([]string, error) {
		projects, err := hub.Projects(ctx, "")
		names := make([]string, len(projects))
		for i, p := range projects {
			names[i] = p.Project.String()
		}
		return names, err
	})
}

// firstOnly completes the first argument alone.
func firstOnly(complete completion) completion {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(c, args, typed)
	}
}

// stackVersions completes the published versions of the stack of the local project
// that from names.
func (a *app) stackVersions(from *string) completion {
	return a.fromHub(func(ctx context.Context, hub *identity.Hub) ([]string, error) {
		ws, err := workspace.Find(a.dir)
		if err != nil {
			return nil, err
		}
		name := *from
		if names, err := ws.Projects(); name == "" && err == nil && len(names) == 1 {
			name = names[0]
		}
		local, err := ws.Project(name)
		if err != nil {
			return nil, err
		}
		manifest, err := local.Stack()
		if err != nil {
			return nil, err
		}
		named, err := manifest.Name()
		if err != nil {
			return nil, err
		}
		stack, err := hub.Stack(ctx, named)
		if err != nil {
			return nil, err
		}
		versions := []string{wire.Latest}
		for _, v := range stack.Versions {
			versions = append(versions, v.Version)
		}
		return versions, nil
	})
}

// origins completes the address of a hub that a token is stored for.
func (a *app) origins(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	logins, err := a.logins()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var known []string
	for _, l := range logins.Logins {
		known = append(known, l.Origin)
	}
	return known, cobra.ShellCompDirectiveNoFileComp
}
