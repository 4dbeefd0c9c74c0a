package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow/publish"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
)

func (a *app) publishCommand() *cobra.Command {
	var dryRun, force bool
	c := &cobra.Command{
		Use:   "publish [<project>]",
		Short: "Ship a version of the stack",
		Long: `Ship the stack in .tool/<project>/ under the name and version that its
stack.json says. A published version never changes: publishing the same content
again is no error, other content needs a higher version.`,
		Example: `  tool publish web
  tool publish web --dry-run`,
		Args:              maybeLocal,
		ValidArgsFunction: a.completeLocal,
		RunE: a.run(func(ctx context.Context, args []string) error {
			return a.publish(ctx, strings.Join(args, ""), dryRun, force)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&dryRun, "dry-run", false, "say what would be published, and publish nothing")
	fl.BoolVar(&force, "force", false, "publish without asking")
	return a.hubFlags(c)
}

func (a *app) publish(ctx context.Context, name string, dryRun, force bool) error {
	local, err := a.local(ctx, name, a.itself)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("publish "+name))
	}
	o := publish.Options{Local: local, Connect: a.connect, CacheDir: a.cache("hashes")}
	if dryRun {
		planned, err := publish.Plan(ctx, o)
		if err != nil {
			return failure.Doing(err, local.Name, "publish %s", local.Name)
		}
		return a.print("planned", planned, func(p *printer) { plannedVersionText(p, planned) })
	}
	stop := a.progress(&o.Report)
	if !a.strict() && !force {
		o.Confirm = func(ctx context.Context, p *publish.Planned) (bool, error) {
			stop()
			return a.confirmPublish(ctx, p)
		}
	}
	r, no, err := publish.Run(ctx, o)
	stop()
	switch {
	case err != nil:
		return failure.Doing(err, local.Name, "publish %s", local.Name)
	case no != nil:
		return a.aborted(no)
	}
	return a.print("published", r, func(p *printer) { publishedText(p, r) })
}

func publishedText(p *printer, r *publish.Result) {
	switch {
	case r.AlreadyPublished:
		p.line("%s %s is published already, with the same content", r.Stack, r.Version)
	case r.FirstVersion:
		p.line("Published %s %s, the stack's first version", r.Stack, r.Version)
	default:
		p.line("Published %s %s", r.Stack, r.Version)
	}
	p.field("origin", "%s", r.Origin)
	p.field("files", "%d, %s", r.FileCount, bytesText(r.SizeBytes))
	p.field("digest", "%s", r.Digest)
	p.notes(r.Notes)
}

func plannedVersionText(p *printer, r *publish.Planned) {
	switch {
	case r.AlreadyPublished:
		p.line("%s %s is published already, with the same content", r.Stack, r.Version)
	case r.FirstVersion:
		p.line("Publishing %s would make the stack %s, with version %s", r.ProjectName, r.Stack, r.Version)
	default:
		p.line("Publishing %s would add version %s to %s", r.ProjectName, r.Version, r.Stack)
	}
	p.field("origin", "%s", r.Origin)
	if r.Latest != "" {
		p.field("latest", "%s now, followed by %s", r.Latest, followersText(r.Followers))
	}
	p.field("files", "%d, %s", r.FileCount, bytesText(r.Bytes))
	paths(p, "+", r.Files, nil)
	p.field("digest", "%s", r.Digest)
	if !r.Authorized {
		p.line("  note: this token may not publish there")
	}
	p.notes(r.Notes)
}

// followersText says how many projects follow a stack, of which the hub counts a
// limited number.
func followersText(n int) string {
	if n >= wire.MostFollowers {
		return fmt.Sprintf("%d or more projects", n)
	}
	return countText(n, "project", "projects")
}

// confirmPublish asks whether a version is to be published, which cannot be undone.
func (a *app) confirmPublish(ctx context.Context, p *publish.Planned) (bool, error) {
	facts := []string{"Hub        " + p.Origin, fmt.Sprintf("Files      %s, %s", countText(p.FileCount, "file", "files"), bytesText(p.Bytes))}
	if p.FirstVersion {
		facts = append(facts, "The stack is new: this is its first version.")
	} else {
		facts = append(facts, fmt.Sprintf("Latest     from %s to %s, followed by %s", p.Latest, version.Latest(p.Latest, p.Version), followersText(p.Followers)))
	}
	facts = append(facts, "A published version never changes.")
	return a.confirm(ctx, fmt.Sprintf("Publish @%s %s?", p.Stack, p.Version), facts, "Publish it", "Leave it")
}
