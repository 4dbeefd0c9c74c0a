package pull

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
)

// Options say what is pulled, from where and how.
type Options struct {
	Project app.Optional // source; not given: client.json's
	Output  app.Optional // directory for the base files; not given: the app root

	Files     bool // pull the base files too
	FilesOnly bool // pull the base files alone
	Force     bool // replace without asking
	Mine      bool // resolves every conflict
	Theirs    bool
	Undo      bool // the last pull
	NoUndo    bool // save nothing for Undo
}

// files reports whether base files are pulled.
func (o *Options) files() bool { return o.Files || o.FilesOnly }

// line is a pull of the same project with these options.
func (p *pull) line(o Options) cmdline.Line {
	l := p.Line("pull")
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"--undo", o.Undo}, {"--no-undo", o.NoUndo}, {"--base-files", o.Files}, {"--base-files-only", o.FilesOnly},
		{"--mine", o.Mine}, {"--theirs", o.Theirs}, {"--force", o.Force},
	} {
		if f.given {
			l = l.Flag(f.name)
		}
	}
	if o.Output.Given() {
		l = l.Flag("--output", o.Output.String())
	}
	return l
}

// Command returns the command pull.
func Command(a *app.App) *cobra.Command {
	var o Options
	var several app.Several
	c := &cobra.Command{
		Use:   "pull [<project>...]",
		Short: "Download the hub's config into client.json (and base files)",
		Long: `Download the hub's config into the settings of .tool/<project>/client.json.
Only settings that differ are edited; every other byte of the file is kept.

The hub's changes are merged with yours, key by key. A key that you and others
changed differently is a conflict: a terminal asks for each, a pipeline fails
unless --mine or --theirs resolves them all. --force replaces your settings with
the hub's config. Commit .tool/<project>/pulled.json: it records the config that
both sides come from. Without it, every difference is a conflict.

With --base-files the app's files are downloaded too, with --base-files-only
nothing else is. A terminal asks before local files that differ are overwritten,
and before files are added that other programs run (such as .envrc, Makefile and
executables) or that change what a push sends (.toolignore, .env); a pipeline
does so only with --force. Files that the hub does not have are kept.
--undo does not remove files that a pull added. More than 20,000 files, 25 MiB
in a file or 1 GiB in all need a yes, or --force.`,
		Example: `  tool pull web
  tool pull web --base-files --output ../copy
  tool pull web --project @acme/web --no-input`,
		RunE: a.Run(func(ctx context.Context, args []string) error {
			switch {
			case o.Undo && (o.Force || o.Files || o.FilesOnly || o.Output.Given() || o.Mine || o.Theirs || o.NoUndo):
				return cmdline.Usagef("--undo goes with --project alone")
			case o.Mine && o.Theirs || o.Force && (o.Mine || o.Theirs):
				return cmdline.Usagef("--mine, --theirs and --force exclude each other")
			case o.FilesOnly && (o.Mine || o.Theirs):
				return cmdline.Usagef("--base-files-only pulls no config, so --mine and --theirs have no use with it")
			case o.Files && o.FilesOnly:
				return cmdline.Usagef("--base-files and --base-files-only exclude each other")
			case o.Output.Given() && !o.Files && !o.FilesOnly:
				return cmdline.Usagef("--output goes with --base-files or --base-files-only")
			case o.Output.Given() && o.Output.String() == "":
				return cmdline.Usagef("--output needs a directory")
			}
			return several.Run(ctx, a, args, func(name string) error { return Run(ctx, a, name, o) })
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	several.Flags(a, c, "project", "undo", "output")
	fl.Var(&o.Project, "project", "pull from `@ACCOUNT/SLUG` instead of client.json's project")
	fl.BoolVar(&o.Files, "base-files", false, "download the base files too")
	fl.BoolVar(&o.FilesOnly, "base-files-only", false, "download the base files and leave client.json unchanged")
	fl.Var(&o.Output, "output", "write the base files to `DIR` instead of the app root")
	fl.BoolVar(&o.Mine, "mine", false, "keep your value of each key in conflict")
	fl.BoolVar(&o.Theirs, "theirs", false, "take the hub's value of each key in conflict")
	fl.BoolVar(&o.Force, "force", false, "replace settings and files that differ, without merging or asking")
	fl.BoolVar(&o.Undo, "undo", false,
		"restore the settings and base files that the last pull replaced, without calling the hub")
	fl.BoolVar(&o.NoUndo, "no-undo", false, "replace settings and files without saving them for --undo")
	c.RegisterFlagCompletionFunc("output", app.Directories)
	c.RegisterFlagCompletionFunc("project", a.HubProjects())
	return a.HubFlags(a.EnvFlag(c))
}
