package publish

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/version"
)

// parts are the values of --bump.
var parts = []string{string(version.Patch), string(version.Minor), string(version.Major)}

// bumpFlag adds the flag --bump.
func (o *Options) bumpFlag(c *cobra.Command) {
	c.Flags().StringVar(&o.Bump, "bump", "", "raise this `PART` of the version first: patch, minor or major")
	c.RegisterFlagCompletionFunc("bump", cobra.FixedCompletions(parts, cobra.ShellCompDirectiveNoFileComp))
}

func (o *Options) check() error {
	if o.Bump != "" && !slices.Contains(parts, o.Bump) {
		return cmdline.Usagef("--bump is patch, minor or major, not %q", o.Bump)
	}
	return nil
}

// bump is the version that --bump replaces.
type bump struct {
	former  string
	written bool // the new one is in stack.json
}

// raise replaces the version that was read by the one to be published.
func (p *publish) raise() {
	if p.opts.Bump != "" && p.bumped == nil {
		p.bumped = &bump{former: p.version}
		p.version = version.Bump(p.version, version.Part(p.opts.Bump))
	}
}

// bumping reports that the version is still to be written into stack.json.
func (p *publish) bumping() bool { return p.bumped != nil && !p.bumped.written }

// writeVersion writes the raised version into stack.json.
func (p *publish) writeVersion() error {
	if !p.bumping() {
		return nil
	}
	stack, err := p.local.Stack()
	if err == nil {
		err = stack.SetVersion(p.bumped.former, p.version)
	}
	p.bumped.written = err == nil
	return failure.At(app.StageStack, err)
}

// keepOrRestore restores the former version in stack.json after a failure which leaves no
// doubt that nothing was published. Otherwise the version stays, so that publishing again
// finds out, and the failure says so.
func (p *publish) keepOrRestore(err error) error {
	if p.bumped == nil || !p.bumped.written {
		return err
	}
	f := failure.Of(err)
	if !p.sent || hubclient.NotApplied(err) {
		stack, restoring := p.local.Stack()
		if restoring == nil {
			restoring = stack.SetVersion(p.version, p.bumped.former)
		}
		if restoring == nil {
			return f
		}
	}
	return f.WithHint("%s has version %s now, which may be published: publish again without --bump", p.stackPath(), p.version).
		WithRecipe(cmdline.Tool("publish").With(p.local.Name))
}

// bumpNote says how the version in stack.json was or would be changed, "" for not at all.
func (p *publish) bumpNote() string {
	switch {
	case p.bumped == nil:
		return ""
	case p.bumped.written:
		return fmt.Sprintf("raised the version in %s from %s to %s", p.stackPath(), p.bumped.former, p.version)
	}
	return fmt.Sprintf("publishing raises the version in %s from %s to %s; the digest is without it", p.stackPath(), p.bumped.former, p.version)
}

func (p *publish) stackPath() string { return ".tool/" + p.local.Name + "/stack.json" }

// again is the command that publishes what was refused: with --bump where that is enough.
func (p *publish) again() cmdline.Line {
	line := cmdline.Tool("publish").With(p.local.Name)
	if p.bumped != nil || p.there == nil || version.Compare(version.Bump(p.version, version.Patch), p.there.Versions[0].Version) <= 0 {
		return line
	}
	return line.Flag("--bump", string(version.Patch))
}
