package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Consented reports whether a question about name was answered with yes before.
func (d Dir) Consented(name string) bool {
	_, err := os.Lstat(d.consent(name))
	return d != "" && err == nil
}

// Consent remembers a yes.
func (d Dir) Consent(name string) error {
	if d == "" {
		return ErrNoDirectory
	}
	path := d.consent(name)
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

func (d Dir) consent(name string) string { return filepath.Join(string(d), "consents", nameOf(name)) }

// nameOf returns a name of a file for a name of any form.
func nameOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
