package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/store"
	"example.com/projecthub/store/objects"
)

// otherObjectsHint says how to use a database with the object store that it was made with, or
// how to move its blobs.
func otherObjectsHint(e *store.OtherObjectsError) string {
	const move = "; to move the blobs, make a backup with hub backup, and give hub restore a new database and the new --blobs"
	switch {
	case e.Made == "":
		return "give no --blobs and no HUB_BLOBS" + move
	case e.Given == "":
		return "give --blobs " + cmdline.Quote(e.Made) + ", or HUB_BLOBS" + move
	default:
		return "the database was made with --blobs " + cmdline.Quote(e.Made) + ": give that, or where its objects are now" + move
	}
}

// addBlobs adds the flag --blobs to a command that reads or writes blobs.
func (a *app) addBlobs(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.blobs, "blobs", "", "keep blobs in this object `STORE` instead of the database: file:DIR or s3://BUCKET[/PREFIX]?endpoint=URL (HUB_BLOBS)")
	return c
}

// blobOptions adds the object store that --blobs names to the options of a database.
func (a *app) blobOptions(o store.Options) (store.Options, error) {
	if a.blobs == "" {
		return o, nil
	}
	var err error
	o.Objects, err = objects.Open(a.blobs, o.Create)
	if errors.Is(err, objects.ErrAddress) {
		return o, cmdline.Usagef("--blobs: %w", err)
	}
	if err != nil {
		return o, fmt.Errorf("open the object store %s: %w", a.blobs, err)
	}
	return o, nil
}

// withBlobs runs f with the database, as withStore does, and the blobs, which must be where
// --blobs says.
func (a *app) withBlobs(ctx context.Context, f func(*store.Store) error) error {
	o, err := a.blobOptions(store.Options{})
	if err != nil {
		return err
	}
	return a.with(ctx, o, func(s *store.Store) error {
		if err := s.UseObjects(ctx); err != nil {
			return err
		}
		return f(s)
	})
}
