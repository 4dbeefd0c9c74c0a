package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/store"
)

// defaultDB is the database if --db and HUB_DB are not given.
const defaultDB = "sqlite:hub-data/hub.db"

// line returns a command line to type, with the database that this command was given.
func (a *app) line(l cmdline.Line) string { return a.withDB(l).String() }

func (a *app) withDB(l cmdline.Line) cmdline.Line {
	if a.db == defaultDB || a.fromEnvironment() {
		return l
	}
	return l.Flag("--db", shownDB(a.db))
}

// fromEnvironment reports whether HUB_DB has the address of a PostgreSQL.
func (a *app) fromEnvironment() bool { return store.Path(a.db) == "" && a.db == a.getenv("HUB_DB") }

// quotedDB is the database as an argument in a shell.
func (a *app) quotedDB() string {
	if a.fromEnvironment() {
		return `"$HUB_DB"`
	}
	return cmdline.Quote(shownDB(a.db))
}

// shownDB returns the address of a database without the password: the reader has to type one that has a
// password again.
func shownDB(address string) string {
	if path := store.Path(address); path != "" {
		return "sqlite:" + path
	}
	if u, err := url.Parse(address); err == nil {
		_, secret := u.User.Password()
		if !secret && !strings.Contains(strings.ToLower(u.Query().Encode()), "password") {
			return address
		}
	}
	return "postgres://…"
}

// open opens the database that a flag names. Its failure names the file, which the driver's does not. What
// may hold a password is not quoted: the address of a server, also in libpq's form host=… password=….
func (a *app) open(ctx context.Context, flag, address string, o store.Options) (*store.Store, error) {
	s, err := store.Open(ctx, address, o)
	switch path := store.Path(address); {
	case errors.Is(err, store.ErrAddress):
		malformed := cmdline.Usagef("%s: %w", flag, err)
		if address != "" && !strings.ContainsAny(address, ":=") { // probably a path
			const instead = "for the SQLite file %s, give %s %s"
			return nil, malformed.WithHint(instead, address, flag, cmdline.Quote("sqlite:"+address))
		}
		return nil, malformed
	case err != nil && path == "":
		return nil, hint(err, "check that PostgreSQL runs and has this database and role, and that the address is right")
	case err != nil && !strings.Contains(err.Error(), path):
		err = fmt.Errorf("database %s: %w", path, err)
		f, readOnly := os.OpenFile(path, os.O_RDWR, 0)
		if readOnly == nil {
			f.Close()
		}
		if errors.Is(readOnly, syscall.EROFS) {
			return nil, hint(err, "its disk is read-only, and SQLite has to write next to the file: copy it, and its log, "+
				"to another disk", "cp "+cmdline.Quote(path)+"* DIRECTORY")
		}
		return nil, hint(err, "check the file, its rights and its disk; a backup can take its place")
	}
	return s, err
}

// withMigrated runs f with the database that a flag names, locked, and created or updated in steps.
func (a *app) withMigrated(
	ctx context.Context, flag, address string, o store.Options, f func(s *store.Store, steps []string) error,
) error {
	o.Create = true
	s, err := a.open(ctx, flag, address, o)
	if err != nil {
		return err
	}
	defer s.Close()
	unlock, err := s.Lock()
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	steps, err := s.Migrate(ctx)
	if err != nil {
		return copyAgain(err, address)
	}
	return f(s, steps)
}

// withStore runs f with the database, which must exist and be up to date.
func (a *app) withStore(ctx context.Context, f func(*store.Store) error) error {
	s, err := a.open(ctx, "--db", a.db, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.CheckSchema(ctx); err != nil {
		return copyAgain(err, a.db)
	}
	return f(s)
}

// copyAgain adds to an error about a database with a part of the rows of another one what to do.
func copyAgain(err error, address string) error {
	if !errors.Is(err, store.ErrUnfinished) {
		return err
	}
	recipe := []string{"hub copy --db FORMER --to " + cmdline.Quote(shownDB(address))}
	if path := store.Path(address); path != "" { // a log that is left would change the next file
		quote := cmdline.Quote
		remove := "rm -f " + quote(path) + " " + quote(path+"-wal") + " " + quote(path+"-shm")
		recipe = append([]string{remove}, recipe...)
	}
	return hint(err, "if hub copy is not running, delete this database, and copy the former one again", recipe...)
}

func read[T any](ctx context.Context, a *app, f func(store.View) (T, error)) (found T, err error) {
	err = a.withStore(ctx, func(s *store.Store) (err error) {
		found, err = f(s.View(ctx))
		return err
	})
	return found, err
}

// write runs f in a transaction. Unless nothing changed, a row of the audit log belongs to it.
func (a *app) write(ctx context.Context, row store.AuditRow, f func(*store.Tx) (changed bool, err error)) error {
	row.Actor = "hub"
	return a.withStore(ctx, func(s *store.Store) error {
		return s.Write(ctx, func(tx *store.Tx) error {
			if changed, err := f(tx); err != nil || !changed {
				return err
			}
			return tx.Audit(row)
		})
	})
}

func (a *app) migrateCommand() *cobra.Command {
	c := a.command("migrate", "Create or update the database",
		func(ctx context.Context, _ []string) (r result, err error) {
			err = a.withMigrated(ctx, "--db", a.db, store.Options{}, func(_ *store.Store, steps []string) error {
				r = result{"migrated", map[string]any{"migrations": steps}, "The schema is up to date"}
				if len(steps) > 0 {
					r.text = "Migrated " + strings.Join(steps, "\nMigrated ")
				}
				return nil
			})
			if errors.Is(err, store.ErrInUse) {
				err = hint(err, "stop it first; a hub of this release migrates its database when it starts")
			}
			return r, err
		})
	c.Long = "Create the database, or update its schema. hub serve does the same first."
	return c
}

func (a *app) backupCommand() *cobra.Command {
	c := a.command("backup FILE", "Copy an SQLite database to a file",
		func(ctx context.Context, args []string) (result, error) {
			file := args[0]
			err := a.withStore(ctx, func(s *store.Store) error { return s.Backup(ctx, file) })
			switch {
			case errors.Is(err, errors.ErrUnsupported):
				const dump = "pg_dump --format=custom --exclude-table-data=certificates --file="
				err = errors.New("nothing was backed up: PostgreSQL has a program of its own for this")
				err = hint(err, "run pg_dump", dump+cmdline.Quote(file)+" "+a.quotedDB())
			case errors.Is(err, fs.ErrExist):
				err = hint(err, "give another name: a backup replaces nothing")
			}
			return result{"backedUp", map[string]any{"file": file}, "Backed up to " + file}, err
		})
	c.Long = "Copy an SQLite database, as it is at one moment, to a new file. Hubs keep\n" +
		"reading and writing meanwhile. The copy is a database itself: hub serve --db\n" +
		"sqlite:FILE serves it. It contains hashes of tokens, and everything private, but\n" +
		"no certificates of --tls-domain. For PostgreSQL, print the command that makes a\n" +
		"backup."
	c.Example = "  hub backup hub-monday.db"
	return c
}

func (a *app) copyCommand() *cobra.Command {
	to := ""
	c := a.command("copy --to DATABASE", "Copy the database to an empty one of either kind",
		func(ctx context.Context, _ []string) (result, error) {
			if to == "" {
				return result{}, cmdline.Usagef("--to is the empty database: sqlite:PATH or postgres://…")
			}
			err := a.withStore(ctx, func(from *store.Store) error {
				return a.withMigrated(ctx, "--to", to, store.Options{}, func(target *store.Store, _ []string) error {
					err := from.CopyTo(ctx, target)
					switch {
					case errors.Is(err, store.ErrNotEmpty):
						return hint(err, "give a new database with --to: nothing is replaced")
					case err != nil && ctx.Err() == nil:
						return hint(err, "the new database has a part of the rows: delete it before you try again")
					}
					return err
				})
			})
			return result{"copied", map[string]any{"to": shownDB(to)}, "Copied to " + shownDB(to)}, err
		})
	c.Long = "Copy all that the database holds at one moment to an empty database of the same\n" +
		"kind or the other, which is created if it is an SQLite file. To move a hub, stop\n" +
		"it first: what it writes after the command began is not copied."
	c.Example = "  hub copy --to postgres://hub@db.example.com/hub"
	c.Flags().StringVar(&to, "to", "", "copy to this `DATABASE`: sqlite:PATH or postgres://…")
	return c
}
