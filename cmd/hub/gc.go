package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

// collectEvery is the time between two collections of a serving hub.
const collectEvery = time.Hour

type collected struct {
	Type       string `json:"type"`
	Schema     int    `json:"schema"`
	Contents   int    `json:"contents"`
	Packs      int    `json:"packs"`
	Bytes      int64  `json:"bytes"`
	Moved      int    `json:"moved"`
	Compressed int    `json:"compressed"`
	Revisions  int    `json:"revisions"`
	Projects   int    `json:"projects"` // that had expired
	Purged     int    `json:"purged"`   // deleted projects that are no longer kept
	AuditRows  int    `json:"auditRows"`
	Tokens     int    `json:"tokens"`  // that ended long ago
	Objects    int    `json:"objects"` // of the object store
}

// keeping says what a hub keeps although nothing needs it.
type keeping struct {
	grace     time.Duration
	revisions int // of a config
	days      int
	bytes     int64 // of the revisions of a config
	auditDays int
}

var defaultKeeping = keeping{
	grace: store.DefaultGrace, revisions: store.DefaultRetention.Entries, days: int(store.DefaultRetention.Age / (24 * time.Hour)),
	bytes: store.DefaultRetention.Bytes, auditDays: 400,
}

func (k keeping) retention() store.Retention {
	return store.Retention{Entries: k.revisions, Age: time.Duration(k.days) * 24 * time.Hour, Bytes: k.bytes}
}

func (k keeping) audit() time.Duration { return time.Duration(k.auditDays) * 24 * time.Hour }

func (a *app) gcCommand() *cobra.Command {
	keep := defaultKeeping
	c := &cobra.Command{
		Use:   "gc",
		Short: "Delete expired projects, unreferenced blobs and old revisions",
		Long: "Delete the projects that have expired, and those that were deleted 30 days ago;\n" +
			"the blobs of base files that no project has referenced for the grace period;\n" +
			"the revisions of configs beyond the history that is kept; old rows of the audit\n" +
			"log; and tokens that were revoked or expired 90 days ago. Compress what a push\n" +
			"uploaded uncompressed. Only what changed since the last run is examined. hub\n" +
			"serve does the same once an hour, one hub at a time; it deletes expired\n" +
			"projects once a minute, and audit rows and tokens once a day.",
		Example: "  hub gc\n  hub gc --grace 1h",
		Args:    cmdline.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := keep.check(); err != nil {
				return err
			}
			return a.withBlobs(c.Context(), func(s *store.Store) error {
				expired, err := s.DeleteExpired(c.Context())
				if err != nil {
					return err
				}
				purged, err := s.PurgeDeleted(c.Context())
				if err != nil {
					return err
				}
				done, err := s.Collect(c.Context(), keep.grace)
				if err != nil {
					return err
				}
				revisions, err := s.PruneHistory(c.Context(), keep.retention())
				if err != nil {
					return err
				}
				audited, err := s.PruneAudit(c.Context(), keep.audit(), 0)
				if err != nil {
					return err
				}
				tokens, err := s.PruneTokens(c.Context(), 0)
				if err != nil {
					return err
				}
				return a.print(collected{
					Type: "collected", Schema: 1, Contents: done.Blobs, Packs: done.Packs, Bytes: done.Bytes,
					Moved: done.Moved, Compressed: done.Smaller, Revisions: revisions, Projects: len(expired), Purged: purged, AuditRows: audited, Tokens: tokens, Objects: done.Objects,
				}, func(w io.Writer) {
					fmt.Fprintf(w, "Deleted blobs: %d; packs: %d, %d bytes; moved blobs: %d; compressed packs: %d; revisions: %d; expired projects: %d; purged projects: %d; audit rows: %d; tokens: %d\n",
						done.Blobs, done.Packs, done.Bytes, done.Moved, done.Smaller, revisions, len(expired), purged, audited, tokens)
				})
			})
		},
	}
	keep.addFlags(c)
	return c
}

func (k *keeping) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.DurationVar(&k.grace, "grace", k.grace, "keep unreferenced blobs for this `DURATION` (HUB_GRACE)")
	limitVar(f, &k.revisions, mostItems, "history", "keep the newest `N` revisions of each config (HUB_HISTORY)")
	f.Var(limit[int]{&k.days, 0, mostDays}, "history-days", "keep older revisions of configs for `N` days (HUB_HISTORY_DAYS)")
	limitVar(f, &k.bytes, mostBytes, "history-bytes", "keep older revisions of a config up to `BYTES` in all, counting each as its compressed size and 1 KiB (HUB_HISTORY_BYTES)")
	limitVar(f, &k.auditDays, mostDays, "audit-days", "keep rows of the audit log for `N` days (HUB_AUDIT_DAYS)")
}

// mostDays is the longest history that can be asked for: a hundred years.
const mostDays = 36500

// check refuses a grace period in which a push in progress could lose its blobs.
func (k *keeping) check() error {
	if k.grace < store.MinGrace {
		return cmdline.Usagef("--grace is at least %v, so that no push in progress loses blobs", store.MinGrace)
	}
	return nil
}

// startMaintenance runs the periodic tasks of a serving hub until the function that it
// returns is called.
func startMaintenance(ctx context.Context, s *store.Store, hub *hubserver.Server, keep keeping, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() { maintain(ctx, s, hub, keep, log) })
	tasks.Go(func() { settleRateLimits(ctx, hub, log) })
	return func() {
		cancel()
		tasks.Wait()
	}
}

// settleEvery is the time between two looks at what bots used. With the time for which a
// hub uses a share of a limit it bounds how old the usage is that other hubs show.
const settleEvery = 500 * time.Millisecond

func settleRateLimits(ctx context.Context, hub *hubserver.Server, log *slog.Logger) {
	ticker := time.NewTicker(settleEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := hub.SettleRateLimits(ctx, false); err != nil && ctx.Err() == nil {
			log.Warn("the requests of bots were not stored", "error", err)
		}
	}
}

// maintainEvery is the time between two checks of which tasks are due. When a task ran
// last is in the database, so that a restart delays nothing.
const maintainEvery = time.Minute

// pruneEvery is the time between two looks for old rows of the audit log, and old tokens, in
// all accounts.
const pruneEvery = 24 * time.Hour

func maintain(ctx context.Context, s *store.Store, hub *hubserver.Server, keep keeping, log *slog.Logger) {
	ticker := time.NewTicker(maintainEvery)
	defer ticker.Stop()
	for {
		if err := hub.SaveTokenUses(ctx); err != nil && ctx.Err() == nil {
			log.Warn("the last use of tokens was not stored", "error", err)
		}
		if _, err := s.PurgeAnswers(ctx); err != nil && ctx.Err() == nil {
			log.Error("purge of stored responses failed", "error", err)
		}
		if expired, err := hub.DeleteExpired(ctx); err != nil && ctx.Err() == nil {
			log.Error("expired projects were not deleted", "error", err)
		} else if expired > 0 {
			log.Info("expired projects were deleted", "projects", expired)
		}
		if purged, err := s.PurgeDeleted(ctx); err != nil && ctx.Err() == nil {
			log.Error("deleted projects were not purged", "error", err)
		} else if purged > 0 {
			log.Info("deleted projects were purged", "projects", purged)
		}
		done, ran, err := s.CollectWhenDue(ctx, keep.grace, collectEvery)
		if err != nil && ctx.Err() == nil {
			log.Error("gc failed", "error", err)
		}
		if ran {
			revisions, err := s.PruneHistory(ctx, keep.retention())
			if err != nil && ctx.Err() == nil {
				log.Error("gc of the history failed", "error", err)
			}
			log.Info("gc", "examined", done.Examined, "contents", done.Blobs, "packs", done.Packs, "bytes", done.Bytes, "moved", done.Moved, "compressed", done.Smaller, "objects", done.Objects, "revisions", revisions)
		}
		if _, err := s.PruneAudit(ctx, keep.audit(), pruneEvery); err != nil && ctx.Err() == nil {
			log.Error("old rows of the audit log were not deleted", "error", err)
		}
		if _, err := s.PruneTokens(ctx, pruneEvery); err != nil && ctx.Err() == nil {
			log.Error("old tokens were not deleted", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// saveUses stores what a hub has counted and not stored yet when it ends.
func saveUses(hub *hubserver.Server, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := hub.SaveTokenUses(ctx); err != nil {
		log.Warn("the last use of tokens was not stored", "error", err)
	}
	if err := hub.SettleRateLimits(ctx, true); err != nil {
		log.Warn("the requests of bots were not stored", "error", err)
	}
}
