package kept

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Consented reports whether a question about name was answered with yes before.
func (s *Store) Consented(name string) bool {
	_, err := os.Lstat(s.consent(name))
	return s.dir != "" && err == nil
}

// Consent remembers a yes.
func (s *Store) Consent(name string) error {
	if s.dir == "" {
		return ErrNoDirectory
	}
	path := s.consent(name)
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

func (s *Store) consent(name string) string {
	return filepath.Join(s.dir, "consents", filepath.Base(s.place(name)))
}
