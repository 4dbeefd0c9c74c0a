package store_test

import (
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

// execute runs SQL for what the store has no method for.
func execute(t testing.TB, s *store.Store, text string, args ...any) {
	t.Helper()
	err := s.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(text, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, s *store.Store, f func(tx *store.Tx) error) {
	t.Helper()
	if err := s.Write(t.Context(), f); err != nil {
		t.Error(err)
	}
}

// addAPI adds an API to an account with the id 1, and returns its id.
func addAPI(t testing.TB, s *store.Store, slug string) (id int64) {
	t.Helper()
	execute(t, s, "INSERT INTO accounts (id, name, kind, created_at) VALUES (1, 'acme', 'org', 1) ON CONFLICT DO NOTHING")
	write(t, s, func(tx *store.Tx) (err error) {
		id, err = tx.AddResource(1, store.KindAPI, slug, "anna")
		return err
	})
	return id
}

// claim claims the key of a, and saves a if that was free. It returns the first answer, nil for none.
func claim(t testing.TB, s *store.Store, a store.Answer) (first *store.Answer) {
	t.Helper()
	write(t, s, func(tx *store.Tx) (err error) {
		if first, err = tx.ClaimAnswer(a); first != nil || err != nil {
			return err
		}
		return tx.SaveAnswer(a)
	})
	return first
}

func TestClaimAnswer_FirstAnswerIsRepeated(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		a := store.Answer{
			Caller: "user:1", Route: "POST /v1/apis", Key: "k", BodyHash: "one", ResourceID: addAPI(t, s, "pets"),
			Status: 201, Location: "/v1/apis/acme/pets", Body: []byte("{}"),
		}
		if first := claim(t, s, a); first != nil {
			t.Fatalf("claimed by %+v", first)
		}
		second := a
		second.BodyHash, second.Status, second.Body = "two", 200, []byte("2")
		first := claim(t, s, second)
		if first == nil || first.BodyHash != "one" || first.Status != 201 || first.Location != a.Location ||
			string(first.Body) != "{}" {
			t.Errorf("got %+v, want %+v", first, a)
		}
		seen, err := s.View(t.Context()).FirstAnswer(second)
		if err != nil || seen == nil || seen.ResourceID != a.ResourceID {
			t.Errorf("read %+v, %v", seen, err)
		}
		for _, other := range []store.Answer{
			{Caller: "bot:1", Route: a.Route, Key: "k"}, {Caller: a.Caller, Route: "POST /", Key: "k"},
			{Caller: a.Caller, Route: a.Route, Key: "K"},
		} {
			other.Status, other.Body = 201, []byte("{}")
			if first := claim(t, s, other); first != nil {
				t.Errorf("%+v got the answer to another request: %+v", other, first)
			}
		}
	})
}

func TestClaimAnswer_AnswerEndsWithItsResourceAndAfterADay(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		for name, end := range map[string]string{
			"deleted": "UPDATE resources SET deleted_at = 1 WHERE id = ?",
			"purged":  "DELETE FROM resources WHERE id = ?",
			"old":     "UPDATE answers SET created_at = created_at - 86400100000 WHERE resource_id = ?",
		} {
			a := store.Answer{Caller: "user:1", Route: "POST /", Key: name, BodyHash: "one", Status: 201, Body: []byte("{}")}
			a.ResourceID = addAPI(t, s, name)
			claim(t, s, a)
			execute(t, s, end, a.ResourceID)
			if first, err := s.View(t.Context()).FirstAnswer(a); first != nil || err != nil {
				t.Errorf("%s: read %+v, %v", name, first, err)
			}
			a.ResourceID, a.Status = 0, 200
			if first := claim(t, s, a); first != nil {
				t.Errorf("%s: claimed by %+v", name, first)
			}
			if first := claim(t, s, a); first == nil || first.Status != 200 {
				t.Errorf("%s: the second answer is not there: %+v", name, first)
			}
		}
	})
}

func TestClaimAnswer_OneOfManyRuns(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		a := store.Answer{Caller: "user:1", Route: "POST /", Key: "k", Status: 201, Body: []byte("{}")}
		ran := make(chan bool)
		for range 8 {
			go func() {
				first := claim(t, s, a)
				ran <- first == nil
			}()
		}
		n := 0
		for range 8 {
			if <-ran {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d of 8 requests with one key ran", n)
		}
	})
}
