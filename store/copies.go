package store

import (
	"context"
	"errors"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// CopyContents gives a project that was just created the config and the base files of
// source, and has it enforce the stack's schema if source does. The blobs are shared; those
// of another account have to be stored in the project's account before. It never replaces
// anything: ErrSnapshotExists when the project has base files already. ErrNotFound when
// there is no source, and an *[OutdatedError] when blobs are missing.
func (tx *Tx) CopyContents(ctx context.Context, to, source ref.Ref, w ConfigWrite) error {
	if err := tx.lockProject(ctx, source); err != nil { // so that all of it is of one moment
		return err
	}
	view, err := tx.Project(ctx, source)
	if err != nil {
		return err
	}
	config, err := tx.Config(ctx, source)
	if err != nil {
		return err
	}
	w.Change = func(current *Config) ([]byte, error) {
		if current.UpdatedAt != 0 || config.UpdatedAt == 0 { // it was written, or there is nothing to copy
			return nil, nil
		}
		return config.Body, nil
	}
	if _, _, err := tx.WriteConfig(ctx, to, w); err != nil {
		return err
	}
	if err := tx.copySnapshot(ctx, to, source, w.Author); err != nil || !view.EnforceSchema {
		return err
	}
	return tx.EnforceSchema(ctx, to, true, w.By)
}

func (tx *Tx) copySnapshot(ctx context.Context, to, source ref.Ref, by Author) error {
	snapshot, err := tx.Snapshot(ctx, source)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	files, err := snapshot.List()
	if err != nil {
		return err
	}
	_, err = tx.SwapSnapshot(ctx, to, Swap{
		Author: by, CreateOnly: true, Tree: snapshot.Tree,
		Next: func(tree.Tree) (tree.Tree, error) { return files, nil },
	})
	return err
}
