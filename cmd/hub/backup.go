package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/store"
	"example.com/projecthub/store/objects"
)

type backedUp struct {
	Type   string `json:"type"`
	Schema int    `json:"schema"`
	File   string `json:"file"` // "-": stdin
	Rows   int64  `json:"rows"`
}

func (a *app) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE|-",
		Short: "Write a backup of the database to a file or stdout",
		Long: "Write all that the database holds at one moment to a file, or to stdout for -.\n" +
			"Hubs keep reading and writing meanwhile. The file contains hashes of tokens, and\n" +
			"everything private: keep it as safe as the database. hub restore reads it.",
		Example: "  hub backup hub-monday.backup\n  hub backup - | ssh backups.example.com 'cat > hub.backup'",
		Args:    cmdline.Exactly("FILE, or - for stdout"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withBlobs(c.Context(), func(s *store.Store) error {
				if args[0] == "-" {
					_, err := s.Backup(c.Context(), a.out)
					return a.withCheck(err)
				}
				rows, err := backUp(c.Context(), s, args[0])
				if err != nil {
					return a.withCheck(withoutTemporaryName(args[0], err))
				}
				return a.print(backedUp{"backedUp", 1, args[0], rows}, func(w io.Writer) { fmt.Fprintf(w, "Backed up to %s\n", args[0]) })
			})
		},
	}
}

// withCheck adds to the failure of a backup, if something is lost or damaged, how to find
// out what.
func (a *app) withCheck(err error) error {
	if errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrMissing) {
		fsck := cmdline.Hub("fsck")
		if a.blobs != "" {
			fsck = fsck.Flag("--blobs", a.blobs)
		}
		return a.hinted(err, "to list all that is damaged, and what to do about it", fsck)
	}
	return err
}

// backUp writes a backup to a file that does not exist yet. The file appears when it is
// whole and on disk.
func backUp(ctx context.Context, s *store.Store, name string) (rows int64, err error) {
	if _, err := os.Lstat(name); err == nil {
		return 0, &hintedError{err: fs.ErrExist, hint: "give another name: a backup replaces nothing"}
	}
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*") // only its owner can read it
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	rows, err = s.Backup(ctx, file)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return 0, err
	}
	return rows, errors.Join(os.Link(file.Name(), name), objects.SyncDirectory(filepath.Dir(name)))
}

// withoutTemporaryName is the failure of a backup to the file name, which is written under
// another name first.
func withoutTemporaryName(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("write %s: %w", name, err)
}

func (a *app) restoreCommand() *cobra.Command {
	maxRow := int64(store.DefaultMaxRow)
	c := &cobra.Command{
		Use:   "restore FILE|-",
		Short: "Fill an empty database from a backup",
		Long: "Fill a database that is new, or has no accounts, with a backup of any database:\n" +
			"this is also the way from SQLite to PostgreSQL and back. All of it takes effect,\n" +
			"or, after a failure, nothing.",
		Example: "  hub restore hub-monday.backup\n  hub restore --db postgres://hub@db.example.com/hub hub-monday.backup",
		Args:    cmdline.Exactly("FILE, or - for stdin"),
		RunE: func(c *cobra.Command, args []string) error {
			in := a.in
			if args[0] != "-" {
				file, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer file.Close()
				in = file
			}
			rows, err := a.restore(c.Context(), in, maxRow)
			if err != nil {
				return restoreFailure(args[0], err)
			}
			return a.print(backedUp{"restored", 1, args[0], rows}, func(w io.Writer) { fmt.Fprintf(w, "Restored %s\n", args[0]) })
		},
	}
	limitVar(c.Flags(), &maxRow, mostBytes, "max-row", "the longest row that a backup may have, in `BYTES`; the restore needs about nine times as much memory")
	return c
}

// restoreFailure is the failure of a restore from a file, with what to do about it.
func restoreFailure(file string, err error) error {
	if errors.Is(err, store.ErrNotEmpty) {
		return &hintedError{err: err, hint: "give a new database with --db: nothing is replaced"}
	}
	err = fmt.Errorf("restore %s: %w", file, err)
	if other, ok := errors.AsType[*store.OtherObjectsError](err); ok && other.Made == "" {
		return &hintedError{err: err, hint: "give an empty directory or prefix with --blobs"}
	}
	if _, ok := errors.AsType[*store.RowTooLongError](err); ok {
		return &hintedError{err: err, hint: "if the backup is of a hub with larger limits than the default ones, allow more with --max-row"}
	}
	return err
}

func (a *app) restore(ctx context.Context, in io.Reader, maxRow int64) (rows int64, err error) {
	if in, err = store.CheckBackup(in); err != nil { // before a database is created
		return 0, err
	}
	debug.SetMemoryLimit(6*maxRow + ownMemory) // rows that are read need it; SQLite's are not counted
	o, err := a.blobOptions(store.Options{Create: true, MaxRow: maxRow})
	if err != nil {
		return 0, err
	}
	s, err := a.open(ctx, o)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	unlock, err := s.Lock()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return s.Restore(ctx, in)
}
