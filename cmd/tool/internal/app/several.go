package app

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
)

// Several lets a command run for several local projects: those that are named, or all.
type Several struct{ all bool }

// Flags adds the flag --all to a command, and lets it take several names. The flags that
// onlyOne names are about one project.
func (s *Several) Flags(a *App, c *cobra.Command, onlyOne ...string) {
	c.Flags().BoolVar(&s.all, "all", false, "run for all local projects")
	c.ValidArgsFunction = a.CompleteLocals
	c.Args = func(c *cobra.Command, args []string) error {
		if s.all && len(args) > 0 {
			return cmdline.Usagef("--all and <project> exclude each other")
		}
		for _, name := range onlyOne {
			if c.Flags().Changed(name) && (s.all || len(args) > 1) {
				return cmdline.Usagef("--%s goes with one local project", name)
			}
		}
		return Locals(c, args)
	}
}

// Named reports whether it is said which local projects are meant.
func (s *Several) Named(args []string) bool { return s.all || len(args) > 0 }

// Run calls run for each local project, or once with "" where none is named. It goes on after the
// failure of one, but not after an interrupt. With --json there is one document, with that of each
// project in results.
func (s *Several) Run(ctx context.Context, a *App, args []string, run func(name string) error) error {
	names := args
	if s.all || len(names) > 1 {
		ws, err := a.Workspace() // without one, the command fails once, not for each project
		if err == nil && s.all {
			names, err = localNames(ws)
		}
		for _, name := range names { // before anything is done for the others
			if err == nil {
				_, err = ws.Project(name)
			}
		}
		if err != nil {
			return err
		}
	}
	asList := s.all && a.JSON && len(names) == 1 // as for several
	if len(names) <= 1 && !asList {
		return run(strings.Join(names, ""))
	}
	failed, differs, err := a.runEach(ctx, names, run)
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return failure.New(failure.CodeSomeFailed, "%d of %d local projects failed: %s",
			len(failed), len(names), strings.Join(failed, ", "))
	}
	if a.JSON {
		if err := a.Show(&several{Results: a.collected}); err != nil {
			return err
		}
	}
	if differs {
		return ErrDiffers
	}
	return nil
}

// runEach calls run for each name and reports its failure. It returns the names that failed, and
// whether run returned ErrDiffers for any. It stops at a usage error or an interrupt, and returns it.
func (a *App) runEach(
	ctx context.Context, names []string, run func(name string) error,
) (failed []string, differs bool, err error) {
	a.collecting = a.JSON
	defer func() { a.collecting = false }()
	for _, name := range names {
		err := a.Settle(run(name))
		if err == nil {
			continue
		}
		if errors.Is(err, ErrDiffers) {
			differs = true
			continue
		}
		_, isUsage := errors.AsType[*cmdline.UsageError](err)
		if isUsage || IsInterrupted(err) || ctx.Err() != nil {
			return nil, false, err
		}
		a.ReportFailure(err)
		failed = append(failed, name)
	}
	return failed, differs, nil
}

// several is the result of several local projects, in JSON: text has one after the other.
type several struct {
	Results []jsontext.Value `json:"results"`
}

func (*several) Kind() string   { return "several" }
func (*several) Effect() string { return "all of them went through" }
func (*several) Text(*Printer)  {}
