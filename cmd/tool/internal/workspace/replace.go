package workspace

import (
	"bytes"
	"errors"
)

// Each calls f with each file that the edits change, and what it has before and after them.
func (edits Edits) Each(f func(name string, before, after []byte) error) error {
	for _, e := range edits {
		if before := e.doc.Text(); !bytes.Equal(before, e.text) {
			if err := f(e.doc.name, before, e.text); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReplaceFile replaces what a file of the workspace has, unless somebody changed it since that was
// read.
func (w *Workspace) ReplaceFile(name string, before, after []byte) error {
	_, err := w.update(name, true, func(now []byte) ([]byte, error) {
		if !bytes.Equal(now, before) {
			return nil, invalid(name, errors.New("it was edited meanwhile"))
		}
		return after, nil
	})
	return err
}
