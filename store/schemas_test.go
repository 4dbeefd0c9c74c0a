package store_test

import (
	"errors"
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

func TestEnforceSchema_IsSetAndCleared(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		enforced := func() (on bool) {
			t.Helper()
			err := s.Read(t.Context(), func(v *store.View) error {
				p, err := v.Project(t.Context(), web)
				if err == nil {
					on = p.EnforceSchema
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return on
		}
		if enforced() {
			t.Error("a new project enforces its schema")
		}
		for _, on := range []bool{true, true, false, false, true} { // twice the same is no error
			write(t, s, func(tx *store.Tx) error { return tx.EnforceSchema(t.Context(), web, on, "alice") })
			if enforced() != on {
				t.Errorf("after %t it is %t", on, !on)
			}
		}
		purge(t, s, web)
		write(t, s, func(tx *store.Tx) error { return tx.CreateProject(t.Context(), webProject()) })
		if enforced() {
			t.Error("a new project of the same name enforces the schema")
		}
	})
}

func TestEnforceSchema_EndsWithItsTransaction(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		failed := errors.New("failed")
		err := s.Write(t.Context(), func(tx *store.Tx) error {
			return errors.Join(tx.EnforceSchema(t.Context(), web, true, "alice"), failed)
		})
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
		err = s.Read(t.Context(), func(v *store.View) error {
			p, err := v.Project(t.Context(), web)
			if err == nil && p.EnforceSchema {
				t.Error("it is set")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
