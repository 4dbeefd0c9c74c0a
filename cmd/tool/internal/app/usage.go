package app

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
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

// MaybeLocal allows the name of a local project. An empty name, as from a variable that was not set, is an error.
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

// CheckRevision fails unless typed is such as r12, a digest, latest or latest~1. name is what the argument is called.
func CheckRevision(name, typed string) error {
	if ok, _ := regexp.MatchString(`^(r[0-9]+|[0-9a-f]{4,64}|latest(~(0|[1-9][0-9]{0,8}))?)$`, typed); ok {
		return nil
	}
	return cmdline.Usagef(
		"%s is a number such as r12, latest or latest~1, or 4 to 64 lower-case hex digits of a revision, "+
			"as tool log lists them, not %q", name, typed)
}

// Completion completes an argument or the value of a flag.
type Completion = cobra.CompletionFunc

// What a shell completes itself.
var (
	FileNames   = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	Directories = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
)

// OneOf completes one of a few values.
func OneOf[T ~string](values ...T) Completion {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return cobra.FixedCompletions(texts, cobra.ShellCompDirectiveNoFileComp)
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

// CompleteLocals completes the names of local projects that are not given yet.
func (a *App) CompleteLocals(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	names, directive := a.LocalNames(c, nil, "")
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) }), directive
}

// LocalNames completes the name of a local project.
func (a *App) LocalNames(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
	if ws, err := workspace.Find(a.Dir); err == nil {
		names, _ = ws.Projects()
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeEnv completes an environment of the local project that is given, or of any.
func (a *App) completeEnv(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.Environments(args...), cobra.ShellCompDirectiveNoFileComp
}

// CompleteOrigin completes the address of a hub that a token is stored for.
func (a *App) CompleteOrigin(*cobra.Command, []string, string) (known []string, _ cobra.ShellCompDirective) {
	if logins, err := a.Logins(); err == nil {
		for _, l := range logins.Logins {
			known = append(known, l.Origin)
		}
	}
	return known, cobra.ShellCompDirectiveNoFileComp
}

// completeWithin is how long a shell waits for what a hub knows. A hub that is
// slower completes nothing.
const completeWithin = 2 * time.Second

// FromHub completes what find returns, or nothing if the hub cannot be reached.
func (a *App) FromHub(find func(ctx context.Context, hub *identity.Hub) ([]string, error)) Completion {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), completeWithin)
		defer cancel()
		if err := a.readEnv(c); err == nil && len(args) > 0 && a.InEnvironment() {
			_, _ = a.Locals(ctx, args[0]) // uses its hub; without it, the usual hub is asked
		}
		var found []string
		hub, err := a.ConnectTo(ctx, false)
		if err == nil {
			found, err = find(ctx, hub)
		}
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
