package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/flow/publish"
)

func (a *app) publishCommand() *cobra.Command {
	var dryRun, force bool
	c := &cobra.Command{
		Use:   "publish [<project>]",
		Short: "Ship a version of the stack",
		Long: `Ship the stack in .tool/<project>/ under the name and version that its stack.json says.
A published version never changes: publishing the same content again is no error, other
content needs a higher version.`,
		Example: `  tool publish web
  tool publish web --dry-run`,
		Args:              atMost("<project>"),
		ValidArgsFunction: a.completeLocal,
		RunE: a.run(func(ctx context.Context, args []string) error {
			return a.publish(ctx, strings.Join(args, ""), dryRun)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&dryRun, "dry-run", false, "say what would be published, and publish nothing")
	fl.BoolVar(&force, "force", false, "publish without asking")
	return a.hubFlags(c)
}

func (a *app) publish(ctx context.Context, name string, dryRun bool) error {
	local, err := a.local(name, itself)
	if err != nil {
		return doing(err, name, "%s", strings.TrimSpace("publish "+name))
	}
	o := publish.Options{Local: local, Connect: a.connect, CacheDir: a.cache("hashes")}
	if dryRun {
		planned, err := publish.Plan(ctx, o)
		if err != nil {
			return doing(err, local.Name, "publish %s", local.Name)
		}
		return a.print("planned", planned, func(p *printer) { plannedVersionText(p, planned) })
	}
	stop := a.progress(&o.Report)
	r, err := publish.Run(ctx, o)
	stop()
	if err != nil {
		return doing(err, local.Name, "publish %s", local.Name)
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
		p.field("latest", "%s now, followed by %s", r.Latest, countText(r.Followers, "project", "projects"))
	}
	p.field("files", "%d, %s", r.FileCount, bytesText(r.Bytes))
	paths(p, "+", r.Files)
	p.field("digest", "%s", r.Digest)
	if !r.Authorized {
		p.line("  note: this token may not publish there")
	}
	p.notes(r.Notes)
}
