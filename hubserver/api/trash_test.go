package api_test

import (
	"testing"

	"example.com/projecthub/hubclient/wire"
)

// A caller that lost the response learns what was restored, and restores nothing else.
func TestRestoreProject_RepeatsItsResponse(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.project()
		alice.do("DELETE", web, nil).want(200)
		alice.do("POST", "/v1/projects", newWeb).want(201)
		alice.do("DELETE", web, nil).want(200) // two of this name are deleted
		restore := func(key, as string) answer {
			return alice.send("POST", web+"/restore", "application/json", []byte(`{"as": "`+as+`"}`), "Idempotency-Key", key)
		}
		for range 2 {
			if r := decoded[wire.Restored](restore("one", "old").want(200)); r.Existed || r.Project.String() != "@acme/old" {
				t.Errorf("%+v", r)
			}
		}
		restore("one", "older").problem(422, wire.CodeIdempotencyMismatch)
		restore("two", "old").problem(409, wire.CodeProjectExists)
		restore("two", "older").want(200)
		restore("three", "oldest").problem(404, wire.CodeNotFound)
		if list := decoded[wire.Projects](alice.do("GET", "/v1/projects?account=acme", nil)); len(list.Projects) != 2 {
			t.Errorf("%+v", list)
		}
		// What was deleted again can be restored again.
		alice.do("DELETE", "/v1/projects/acme/old", nil).want(200)
		alice.do("POST", "/v1/projects/acme/old/restore", nil).want(200)
	})
}
