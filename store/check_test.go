package store_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

func TestCheck_FindsEachDamagedBlob(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		set := map[string]string{}
		for i := range 200 {
			set[fmt.Sprintf("f%03d", i)] = strings.Repeat(fmt.Sprintf("content %03d\n", i), 100)
		}
		push := func() {
			if err := pushed(t.Context(), s, web, set, slices.Collect(maps.Keys(set))); err != nil {
				t.Fatal(err)
			}
		}
		push()
		if problems := check(t, s, false); len(problems) > 0 {
			t.Fatalf("undamaged: %v", problems)
		}
		flipped := 0
		write(t, s, func(tx *store.Tx) error {
			return tx.ReplacePacks(t.Context(), func(body []byte) []byte {
				for i := 0; i < 200; i += 2 {
					if at := strings.Index(string(body), fmt.Sprintf("content %03d", i)); at >= 0 {
						body[at] ^= 1
						flipped++
					}
				}
				return body
			})
		})
		problems := check(t, s, true)
		if flipped != 100 || len(problems) != flipped {
			t.Errorf("%d bits were flipped, %d problems found", flipped, len(problems))
		}
		for _, p := range problems {
			if !errors.Is(p.Cause, store.ErrDamaged) {
				t.Error(p.Cause)
			}
		}
		push() // what the repair has marked is stored anew
		if problems := check(t, s, false); len(problems) > 0 {
			t.Errorf("after a push: %d problems, the first: %v", len(problems), problems[0])
		}
	})
}

func TestCheck_FindsWhatIsDamagedOrMissing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		if err := pushed(t.Context(), s, web, map[string]string{"a": "a", "b": "b"}, []string{"a", "b"}); err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{`{"a":1}`, `{"a":2}`} {
			write(t, s, func(tx *store.Tx) error {
				_, _, err := tx.WriteConfig(t.Context(), web, counted("alice", body))
				return err
			})
		}
		for _, c := range []struct{ statement, back, names string }{
			{"UPDATE configs SET revision = 'x' || revision", "UPDATE configs SET revision = substr(revision, 2)", "the config of " + web.String()},
			{"UPDATE config_history SET revision = 'x' || revision", "UPDATE config_history SET revision = substr(revision, 2)", "revision "},
			{"UPDATE base_sets SET tree = 'x' || tree", "UPDATE base_sets SET tree = substr(tree, 2)", "the list of base files of " + web.String()},
			{"UPDATE contents SET stream = 'x' || stream", "UPDATE contents SET stream = substr(stream, 2)", "the pack that it is in is not stored"},
			{"UPDATE contents SET account = 'alice' WHERE sha256 = '" + sumOf("a") + "'", "UPDATE contents SET account = 'acme'", "base files of " + web.String()},
		} {
			execute(t, address, c.statement)
			problems := check(t, s, false)
			if len(problems) == 0 || !slices.ContainsFunc(problems, func(p store.Problem) bool { return strings.Contains(p.Cause.Error(), c.names) }) {
				t.Errorf("%s: %v", c.statement, problems)
			}
			execute(t, address, c.back)
		}
		if problems := check(t, s, false); len(problems) > 0 {
			t.Errorf("undamaged: %v", problems)
		}
		execute(t, address, "DELETE FROM api_documents")
		execute(t, address, "UPDATE apis SET slug = '!' || slug")
		if problems := check(t, s, false); len(problems) == 0 || !strings.Contains(problems[0].Cause.Error(), "invalid name") {
			t.Errorf("an invalid name: %v", problems)
		}
	})
}

func TestCheck_NamesADamagedDocument(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		if err := put(t.Context(), s, project(t, s), map[string]string{"a": "alpha"}); err != nil {
			t.Fatal(err)
		}
		execute(t, address, "UPDATE pieces SET sha256 = 'x' WHERE kind = 'document'")
		problems := check(t, s, false)
		if len(problems) != 1 || !strings.Contains(problems[0].Cause.Error(), ": document @acme/pets: piece 0") {
			t.Errorf("%v", problems)
		}
	})
}

func TestCheck_AdvisesNoRepairAfterIt(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		if err := put(t.Context(), s, project(t, s), map[string]string{"a": "alpha"}); err != nil {
			t.Fatal(err)
		}
		write(t, s, func(tx *store.Tx) error {
			return tx.ReplacePacks(t.Context(), func(body []byte) []byte { body[0] ^= 1; return body })
		})
		for i, repair := range []bool{false, true, false} {
			problems := check(t, s, repair)
			if len(problems) == 0 {
				t.Error("the damage is not found")
			}
			for _, p := range problems {
				if strings.Contains(p.Remedy, "--repair") != (i == 0) {
					t.Errorf("with --repair %v: %s", repair, p.Remedy)
				}
				if !strings.Contains(p.Remedy, "push the base files of @acme/web, where it is a, again") {
					t.Errorf("the remedy does not name a file: %s", p.Remedy)
				}
			}
		}
	})
}

func check(t *testing.T, s *store.Store, repair bool) (problems []store.Problem) {
	t.Helper()
	checked, err := s.Check(t.Context(), repair, func(p store.Problem) { problems = append(problems, p) })
	if err != nil {
		t.Fatal(err)
	}
	if checked.Blobs == 0 || checked.Projects == 0 {
		t.Errorf("%+v was checked", checked)
	}
	return problems
}
