package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Consented reports whether a question about name was answered with yes before.
func (h *History) Consented(name string) bool {
	_, err := os.Lstat(h.consent(name))
	return h.dir != "" && err == nil
}

// Consent remembers a yes.
func (h *History) Consent(name string) error {
	if h.dir == "" {
		return ErrNoDirectory
	}
	path := h.consent(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(name + "\n") // for a person who looks into the file
	return errors.Join(err, f.Close())
}

func (h *History) consent(name string) string {
	return filepath.Join(h.dir, "consents", filepath.Base(h.pathOf(name)))
}
