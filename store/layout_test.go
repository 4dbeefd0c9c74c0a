package store_test

import (
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// BenchmarkLayout compares where the contents of one push could lie: a row each,
// packs of about 1 MiB as rows (the store does so, with packs of half that), one pack file next to an
// index of rows, or a file each. Every way is on the disk before it is done. The
// contents are what 10 KB of source are when they are compressed.
//
//	go test ./store -run '^$' -bench Layout -benchtime 3x
func BenchmarkLayout(b *testing.B) {
	for _, files := range []int{1000, 10_000, 20_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			times := map[string][]time.Duration{}
			for b.Loop() {
				for name, layout := range layouts {
					dir := b.TempDir()
					db := layoutDB(b, dir)
					start := time.Now()
					if err := layout(db, dir, files); err != nil {
						b.Fatalf("%s: %v", name, err)
					}
					times[name] = append(times[name], time.Since(start))
					db.Close()
					os.RemoveAll(dir)
				}
			}
			packs := float64(middle(times["packs"]))
			for name := range layouts {
				b.ReportMetric(float64(middle(times[name]))/packs, name)
			}
			b.ReportMetric(packs/1e6, "packs-ms")
		})
	}
}

func middle(times []time.Duration) time.Duration {
	for i := range times {
		for j := i; j > 0 && times[j] < times[j-1]; j-- {
			times[j], times[j-1] = times[j-1], times[j]
		}
	}
	return times[len(times)/2]
}

// layoutDB is a database much like the store's.
func layoutDB(b *testing.B, dir string) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "hub.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(65536)")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, table := range []string{
		"CREATE TABLE contents (account TEXT, sha256 TEXT, start BIGINT, body BLOB, PRIMARY KEY (account, sha256))",
		"CREATE TABLE packs (account TEXT, start BIGINT, body BLOB, PRIMARY KEY (account, start))",
	} {
		if _, err := db.Exec(table); err != nil {
			b.Fatal(err)
		}
	}
	return db
}

const compressedSize = 4500 // bytes, of a file of 10 KB

var (
	layoutBody = func() []byte {
		body := make([]byte, 1<<20)
		rand.Read(body)
		return body
	}()
	layouts = map[string]func(db *sql.DB, dir string, files int) error{
		"rows": func(db *sql.DB, _ string, files int) error {
			return inTx(db, func(tx *sql.Tx) error { return index(tx, files, layoutBody[:compressedSize]) })
		},
		"packs": func(db *sql.DB, _ string, files int) error {
			return inTx(db, func(tx *sql.Tx) error {
				for at := 0; at < files*compressedSize; at += compressedSize * 100 {
					if _, err := tx.Exec("INSERT INTO packs VALUES ('acme', ?, ?)", at, layoutBody[:min(compressedSize*100, files*compressedSize-at)]); err != nil {
						return err
					}
				}
				return index(tx, files, nil)
			})
		},
		"packfile": func(db *sql.DB, dir string, files int) error {
			if err := writeFile(filepath.Join(dir, "pack"), files); err != nil {
				return err
			}
			return inTx(db, func(tx *sql.Tx) error { return index(tx, files, nil) })
		},
		"files": func(_ *sql.DB, dir string, files int) error {
			for i := range files {
				if err := writeFile(filepath.Join(dir, fmt.Sprint(i)), 1); err != nil {
					return err
				}
			}
			return nil
		},
	}
)

func inTx(db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// index adds a row for each content.
func index(tx *sql.Tx, files int, body []byte) error {
	insert, err := tx.Prepare("INSERT INTO contents VALUES ('acme', ?, ?, ?)")
	if err != nil {
		return err
	}
	for i := range files {
		sum := sha256.Sum256(fmt.Append(nil, i))
		if _, err := insert.Exec(hex.EncodeToString(sum[:]), i*compressedSize, body); err != nil {
			return err
		}
	}
	return nil
}

// writeFile puts n contents into a file, and on the disk.
func writeFile(name string, n int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for range n {
		if _, err := f.Write(layoutBody[:compressedSize]); err != nil {
			return err
		}
	}
	return f.Sync()
}
