package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
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
}

func (a *app) gcCommand() *cobra.Command {
	grace := store.DefaultGrace
	c := &cobra.Command{
		Use:   "gc",
		Short: "Delete unreferenced blobs",
		Long: "Delete the blobs of base files that no project has referenced for the grace\n" +
			"period, and compress what a push uploaded uncompressed. Only what changed since\n" +
			"the last run is examined. hub serve does the same once an hour, one hub\nat a time.",
		Example: "  hub gc\n  hub gc --grace 1h",
		Args:    cmdline.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkGrace(grace); err != nil {
				return err
			}
			return a.withStore(c.Context(), func(s *store.Store) error {
				done, err := s.Collect(c.Context(), grace)
				if err != nil {
					return err
				}
				return a.print(collected{
					Type: "collected", Schema: 1, Contents: done.Blobs, Packs: done.Packs, Bytes: done.Bytes,
					Moved: done.Moved, Compressed: done.Smaller,
				}, func(w io.Writer) {
					fmt.Fprintf(w, "Deleted blobs: %d; packs: %d, %d bytes; moved blobs: %d; compressed packs: %d\n",
						done.Blobs, done.Packs, done.Bytes, done.Moved, done.Smaller)
				})
			})
		},
	}
	graceFlag(c, &grace)
	return c
}

func graceFlag(c *cobra.Command, grace *time.Duration) {
	c.Flags().DurationVar(grace, "grace", *grace, "keep unreferenced blobs for this `DURATION` (HUB_GRACE)")
}

// checkGrace refuses a grace period in which a push in progress could lose its blobs.
func checkGrace(grace time.Duration) error {
	if grace < store.MinGrace {
		return cmdline.Usagef("--grace is at least %v, so that no push in progress loses blobs", store.MinGrace)
	}
	return nil
}

// startMaintenance runs the periodic tasks of a serving hub until the function that it
// returns is called.
func startMaintenance(ctx context.Context, s *store.Store, hub *hubserver.Server, grace time.Duration, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		maintain(ctx, s, hub, grace, log)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// maintainEvery is the time between two checks of which tasks are due. When a task ran
// last is in the database, so that a restart delays nothing.
const maintainEvery = time.Minute

func maintain(ctx context.Context, s *store.Store, hub *hubserver.Server, grace time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(maintainEvery)
	defer ticker.Stop()
	for {
		if err := hub.SaveTokenUses(ctx); err != nil && ctx.Err() == nil {
			log.Warn("the last use of tokens was not stored", "error", err)
		}
		if _, err := s.PurgeAnswers(ctx); err != nil && ctx.Err() == nil {
			log.Error("purge of stored responses failed", "error", err)
		}
		done, ran, err := s.CollectWhenDue(ctx, grace, collectEvery)
		if err != nil && ctx.Err() == nil {
			log.Error("gc failed", "error", err)
		}
		if ran {
			log.Info("gc", "examined", done.Examined, "contents", done.Blobs, "packs", done.Packs, "bytes", done.Bytes, "moved", done.Moved, "compressed", done.Smaller)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// saveTokenUses stores the uses of tokens that are not stored yet when a hub ends.
func saveTokenUses(hub *hubserver.Server, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := hub.SaveTokenUses(ctx); err != nil {
		log.Warn("the last use of tokens was not stored", "error", err)
	}
}
