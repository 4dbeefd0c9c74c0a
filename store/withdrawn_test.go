package store_test

import (
	"errors"
	"testing"

	"example.com/projecthub/store"
)

func TestWithdrawVersion_LatestSkipsIt(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web, ctx := project(t, s), t.Context() // publishes 1.0.0
		publish := func(number string) error {
			return s.Write(ctx, func(tx *store.Tx) error {
				_, err := tx.PublishVersion(ctx, version(number, "d "+number), &store.Bundle{Pieces: [][]byte{[]byte("x")}})
				return err
			})
		}
		for _, number := range []string{"1.1.0", "2.0.0-rc.1"} {
			if err := publish(number); err != nil {
				t.Fatal(err)
			}
		}
		stack := mustRef(t, "@acme/stack")
		withdraw := func(number string, undo bool, wantLatest string, wantChanged bool) {
			t.Helper()
			write(t, s, func(tx *store.Tx) error {
				latest, changed, err := tx.WithdrawVersion(ctx, stack, number, undo)
				if latest != wantLatest || changed != wantChanged {
					t.Errorf("%s: latest %s, changed %v", number, latest, changed)
				}
				return err
			})
		}
		latest := func(want string, withdrawn bool) {
			t.Helper()
			if err := s.Read(ctx, func(v *store.View) error {
				p, err := v.Project(ctx, web)
				if err == nil && (p.StackLatest != want || p.Withdrawn != withdrawn) {
					t.Errorf("latest is %s, withdrawn %v; want %s, %v", p.StackLatest, p.Withdrawn, want, withdrawn)
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		}
		withdraw("1.1.0", true, "1.1.0", false)
		withdraw("1.1.0", false, "1.0.0", true)
		withdraw("1.1.0", false, "1.0.0", false)
		latest("1.0.0", false)
		if err := publish("1.1.0"); !errors.Is(err, store.ErrWithdrawn) {
			t.Errorf("published again: %v", err)
		}
		// A project that is pinned to it continues.
		write(t, s, func(tx *store.Tx) error {
			_, err := tx.EditProject(ctx, web, func(p *store.Project) { p.StackVersion = "1.1.0" })
			return err
		})
		latest("1.0.0", true)
		withdraw("1.0.0", false, "2.0.0-rc.1", true)
		err := s.Write(ctx, func(tx *store.Tx) error {
			_, _, err := tx.WithdrawVersion(ctx, stack, "2.0.0-rc.1", false)
			return err
		})
		if !errors.Is(err, store.ErrOnlyVersion) {
			t.Errorf("the only version that is left: %v", err)
		}
		latest("2.0.0-rc.1", true)
		withdraw("1.1.0", true, "1.1.0", true)
		latest("1.1.0", false)
		if err := publish("2.0.0"); err != nil {
			t.Error(err)
		}
		latest("2.0.0", false)
		err = s.Write(ctx, func(tx *store.Tx) error { _, _, err := tx.WithdrawVersion(ctx, stack, "9.9.9", false); return err })
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("no version: %v", err)
		}
	})
}
