package store_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"testing"
	"time"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

func TestDeleteProject_WaitsForFirstBaseFiles(t *testing.T) {
	name := "test_" + rand.Text()
	address := storetest.Postgres(t) // SQLite runs one write after the other
	s := storetest.Open(t, address+"&application_name="+name)
	write(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.CreateAccount(t.Context(), "acme", store.KindOrg), tx.CreateAccount(t.Context(), "alice", store.KindUser))
	})
	web := project(t, s)
	done := make(chan error, 1)
	write(t, s, func(tx *store.Tx) error {
		_, err := tx.SwapSnapshot(t.Context(), web, store.Swap{Author: store.Author{By: "alice"}, Next: func(tree.Tree) (tree.Tree, error) {
			go func() {
				done <- s.Write(context.Background(), func(tx *store.Tx) error {
					_, err := tx.DeleteProject(context.Background(), web, "alice")
					return err
				})
			}()
			awaitLock(t, address, name)
			return tree.New(nil)
		}})
		return err
	})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestDeleteAPI_WaitsForAProjectThatUsesIt(t *testing.T) {
	name := "test_" + rand.Text()
	address := storetest.Postgres(t) // SQLite runs one write after the other
	s := storetest.Open(t, address+"&application_name="+name)
	write(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.CreateAccount(t.Context(), "acme", store.KindOrg), tx.CreateAccount(t.Context(), "alice", store.KindUser))
	})
	web := project(t, s)
	purge(t, s, web)
	done := make(chan error, 1)
	write(t, s, func(tx *store.Tx) error {
		err := tx.CreateProject(t.Context(), webProject())
		go func() {
			done <- s.Write(context.Background(), func(tx *store.Tx) error {
				_, err := tx.DeleteAPI(context.Background(), mustRef(t, "@acme/pets"))
				return err
			})
		}()
		awaitLock(t, address, name)
		return err
	})
	if err := <-done; !errors.Is(err, store.ErrAPIInUse) {
		t.Errorf("the API of a new project: %v", err)
	}
}

// awaitLock waits until a connection of this name waits for a lock.
func awaitLock(t *testing.T, address, name string) {
	t.Helper()
	awaitLockOr(t, address, name, nil)
}

// awaitLockOr is awaitLock for what may as well be done without a wait.
func awaitLockOr(t *testing.T, address, name string, done <-chan error) {
	t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for waiting := 0; waiting == 0; {
		select {
		case <-done:
			return
		default:
		}
		row := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", name)
		if err := row.Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
}
