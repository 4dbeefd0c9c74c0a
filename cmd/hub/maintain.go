package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

// auditDays is how long rows of the audit log are kept unless a flag says otherwise.
const auditDays = 400

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// startMaintenance runs the periodic tasks of a serving hub until the function that it returns is
// called, which also stores the last uses of tokens.
func startMaintenance(ctx context.Context, hub *hubserver.Server, keepAudit time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() { repeat(ctx, time.Minute, func() { maintain(ctx, hub, keepAudit) }) })
	tasks.Go(func() { repeat(ctx, time.Second, func() { saveUses(ctx, hub) }) })
	return func() {
		cancel()
		tasks.Wait()
		last, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		saveUses(last, hub)
	}
}

// repeat calls f now, and then once in a period, until ctx ends.
func repeat(ctx context.Context, period time.Duration, f func()) {
	for ticks := time.Tick(period); ; {
		f()
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// maintain runs the tasks that are due. The database says which are, so that a restart delays none, and
// any number of hubs may call it at once.
func maintain(ctx context.Context, hub *hubserver.Server, keepAudit time.Duration) {
	for _, task := range []struct {
		what string
		run  func(context.Context) (int, error)
	}{
		{"expired projects were deleted", hub.DeleteExpired},
		{"deleted projects, stacks and APIs were purged", hub.Store.Purge},
		{"unreferenced blobs were deleted", hub.Store.Sweep},
		{"histories of configs were trimmed", func(ctx context.Context) (int, error) {
			return hub.Store.TrimHistories(ctx, 24*time.Hour)
		}},
		{"old rows were deleted", func(ctx context.Context) (int, error) {
			p, err := hub.Store.Prune(ctx, keepAudit, 24*time.Hour)
			return p.Answers + p.Audit + p.Tokens + p.Sessions + p.Links + p.Devices + p.Drafts, err
		}},
	} {
		n, err := task.run(ctx)
		if n > 0 {
			hub.Log.Info(task.what, "number", n)
		}
		if err != nil && ctx.Err() == nil {
			hub.Log.Error("a periodic task failed: "+task.what, "error", err)
		}
	}
}

func saveUses(ctx context.Context, hub *hubserver.Server) {
	if err := hub.SaveUses(ctx); err != nil && ctx.Err() == nil {
		hub.Log.Warn("the last use of tokens was not stored", "error", err)
	}
}

func (a *app) gcCommand() *cobra.Command {
	keep := auditDays
	c := a.command("gc", "Delete expired projects, unreferenced blobs and old rows",
		func(ctx context.Context, _ []string) (r result, err error) {
			err = a.withStore(ctx, func(s *store.Store) error {
				expired, err := s.DeleteExpired(ctx)
				purged, purgeErr := s.Purge(ctx)
				pruned, pruneErr := s.Prune(ctx, days(keep), 0)
				blobs, sweepErr := s.SweepAll(ctx)
				members := map[string]any{
					"projects": len(expired), "purged": purged, "blobs": blobs, "auditRows": pruned.Audit, "tokens": pruned.Tokens,
				}
				text := fmt.Sprintf("Deleted expired projects: %d; purged: %d; blobs: %d; audit rows: %d; tokens: %d",
					len(expired), purged, blobs, pruned.Audit, pruned.Tokens)
				r = result{"collected", members, text}
				return cmp.Or(err, purgeErr, pruneErr, sweepErr)
			})
			return r, err
		})
	c.Long = "Delete the projects that have expired; the projects, stacks and APIs that were\n" +
		"deleted 30 days ago; blobs that nothing has referenced for a day; old rows of\n" +
		"the audit log; and tokens that were revoked or expired 90 days ago. hub serve\n" +
		"does the same by itself, so that this command is needed only to free space at\n" +
		"once. Hubs can serve meanwhile."
	c.Example = "  hub gc\n  hub gc --audit-days 90"
	limitVar(c.Flags(), &keep, 1, mostDays, "audit-days", "keep rows of the audit log for `N` days")
	return c
}

func (a *app) fsckCommand() *cobra.Command {
	repair := false
	c := a.command("fsck", "Check all stored data against its digests",
		func(ctx context.Context, _ []string) (result, error) {
			var problems []map[string]string
			var text strings.Builder
			var n store.Checked
			err := a.withStore(ctx, func(s *store.Store) (err error) {
				n, err = s.Check(ctx, repair, func(p store.Problem) {
					reason := pat.Redact(p.Cause.Error())
					problems = append(problems, map[string]string{"reason": reason, "remedy": p.Remedy})
					fmt.Fprintf(&text, "%s\n  %s\n", reason, p.Remedy)
				})
				return err
			})
			fmt.Fprintf(&text, "Checked blobs: %d; projects: %d; stack versions: %d; APIs: %d; problems: %d",
				n.Blobs, n.Projects, n.Stacks, n.APIs, len(problems))
			members := map[string]any{
				"problems": problems, "blobs": n.Blobs, "projects": n.Projects, "stacks": n.Stacks, "apis": n.APIs,
			}
			if err == nil && len(problems) > 0 {
				err = errProblems
			}
			return result{"checked", members, text.String()}, err
		})
	c.Long = "Read all base files and their lists, configs, revisions, stacks and API\n" +
		"descriptions, compare them with their digests, and print what is damaged or\n" +
		"missing, with what to do about it. Hubs can serve meanwhile. The exit code is 1\n" +
		"if there is a problem. --repair deletes damaged contents of files, so that the\n" +
		"next push of the same files uploads them again, and damaged older revisions."
	c.Example = "  hub fsck\n  hub fsck --repair --json"
	c.Flags().BoolVar(&repair, "repair", false,
		"delete damaged contents of files, so that the next push uploads them again, and damaged older revisions")
	return c
}
