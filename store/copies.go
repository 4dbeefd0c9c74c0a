package store

import (
	"errors"
	"slices"

	"example.com/projecthub/hubclient/tree"
)

// CopyProject gives a project that was just added the config and the base files of another one: as
// revisions of its own, with blobs of its own. ErrNotFound when the other one does not exist.
func (tx *Tx) CopyProject(id, source int64, by Author) error {
	if _, err := tx.LockProject(source); err != nil { // so that both are of one moment
		return err
	}
	config, err := tx.Newest(source, Config)
	if err != nil {
		return err
	}
	if config.Written() {
		empty := Revision{N: 1, Digest: NoConfig, Content: emptyConfig} // that every project begins with
		write, err := PrepareConfig(empty, config.Content, by)
		if err != nil {
			return err
		}
		if _, _, err := tx.WriteConfig(id, write, Condition{}); err != nil {
			return err
		}
	}
	files, err := tx.Newest(source, Files)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := tree.Read(files.Content)
	if err != nil {
		return err
	}
	for page := range slices.Chunk(without(list, nil, nil), blobPage) {
		where, args := ofPage(source, digestsOf(page))
		err := tx.exec(`INSERT INTO blobs (resource_id, sha256, size, at, body)
			SELECT CAST(? AS BIGINT), sha256, size, CAST(? AS BIGINT), body FROM blobs `+where,
			append([]any{id, tx.Now()}, args...)...)
		if err != nil {
			return err
		}
	}
	write, err := PrepareFiles(Revision{}, list, nil, by)
	if err != nil {
		return err
	}
	_, _, err = tx.WriteFiles(id, write)
	return err
}
