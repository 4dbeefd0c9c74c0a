package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/store/storetest"
)

// command runs a command line, and returns its exit code and what it prints.
func command(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	var out bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &out, func(string) string { return "" })
	return code, out.String()
}

// done runs a command line that has to succeed.
func done(t *testing.T, args ...string) {
	t.Helper()
	if code, said := command(t, args...); code != exitDone {
		t.Errorf("hub %q: exit code %d: %s", args, code, said)
	}
}

// loaded fills a database by a hub, which serves until the test ends.
func loaded(t *testing.T, address string) *load {
	t.Helper()
	l := newLoad(t, address)
	l.lead(serve(t, address).base)
	l.begin(2)
	l.await(40)
	return l
}

func TestBackup_OfAServingHubIsADatabase(t *testing.T) {
	l := loaded(t, storetest.SQLite(t))
	file := filepath.Join(t.TempDir(), "backup.db")
	done(t, "backup", file, "--db", l.address)
	l.end()
	done(t, "fsck", "--db", "sqlite:"+file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the backup: %v, %v", info.Mode(), err)
	}
	if code, said := command(t, "backup", file, "--db", l.address); code != exitFailed ||
		!strings.Contains(said, "replaces nothing") {
		t.Errorf("a second backup to the file: exit code %d: %s", code, said)
	}
	serve(t, "sqlite:"+file)
}

func TestBackup_OfPostgreSQLNamesTheProgramForIt(t *testing.T) {
	address := storetest.Postgres(t)
	storetest.Open(t, address)
	code, said := command(t, "backup", "it's.dump", "--db", address)
	if code != exitFailed || !strings.Contains(said, "pg_dump --format=custom --exclude-table-data=certificates --file=") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

func TestCopy_MovesAHubToPostgreSQLAndBack(t *testing.T) {
	there, back := storetest.Postgres(t), storetest.SQLite(t)
	l := loaded(t, storetest.SQLite(t))
	l.stop()
	l.writing.Wait()
	done(t, "copy", "--db", l.address, "--to", there)
	if code, said := command(t, "copy", "--db", l.address, "--to", there); code != exitFailed ||
		!strings.Contains(said, "not empty") {
		t.Errorf("to a database with rows: exit code %d: %s", code, said)
	}
	done(t, "copy", "--db", there, "--to", back)
	done(t, "fsck", "--db", there)
	done(t, "fsck", "--db", back)
	l.address = back
	l.lead(serve(t, back).base)
	l.end() // nothing that was acknowledged is lost
}

// What a copy that was killed leaves behind is no hub.
func TestCommands_RefuseADatabaseThatIsCopiedInPart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		storetest.Open(t, address)
		db := openSQL(t, address)
		defer db.Close()
		if _, err := db.Exec("INSERT INTO tasks (name, ran_at) VALUES ('copying', 1)"); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"serve", "--listen", "localhost:99999"}, {"migrate"}, {"fsck"}, {"backup", t.TempDir() + "/b"},
			{"copy", "--to", storetest.SQLite(t)}, {"account", "list"},
		} {
			code, said := command(t, append(args, "--db", address)...)
			if code != exitFailed || !strings.Contains(said, "the database is incomplete: a copy to it") ||
				!strings.Contains(said, "try: hub copy --db FORMER --to ") {
				t.Errorf("%q: exit code %d: %s", args, code, said)
			}
		}
	})
}

func TestServe_DoesWhatIsDueWhenItStarts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		storetest.Open(t, address)
		db := openSQL(t, address)
		defer db.Close()
		_, err := db.Exec("INSERT INTO audit (at, account, actor, token, action, object, detail, request_id, address) " +
			"VALUES (1, '', '', '', '', '', '', '', '')")
		if err != nil {
			t.Fatal(err)
		}
		serve(t, address)
		for end := time.Now().Add(time.Minute); count(t, address, "audit") > 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("an old row of the audit log is not deleted")
			}
		}
	})
}
