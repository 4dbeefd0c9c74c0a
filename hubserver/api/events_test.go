package api_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/projecthub/store"
)

// events returns the events of @acme/web as they come; it is closed when the stream ends.
func (c caller) events() <-chan string {
	c.hub.Helper()
	server := httptest.NewServer(c.hub.http)
	c.hub.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(c.hub.Context(), "GET", server.URL+web+"/events", nil)
	if err != nil {
		c.hub.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.hub.Fatal(err)
	}
	found := make(chan string)
	go func() {
		defer close(found)
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				found <- data
			}
		}
	}()
	return found
}

func TestEvents_TellOfWritesUntilTheProjectIsDeleted(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.project()
		stream := h.as("rita").events()
		want := func(parts ...string) {
			h.Helper()
			got := <-stream
			for _, part := range parts {
				if !strings.Contains(got, part) {
					h.Errorf("%s does not contain %s", got, part)
				}
			}
		}
		want(`"revision":"`+store.NoConfig+`"`, `"by":""`)
		project, err := h.store.View(h.Context()).ResourceByName("acme", store.KindProject, "web")
		if err != nil {
			h.Fatal(err)
		}
		before, err := h.store.View(h.Context()).Newest(project.ID, store.Config)
		if err != nil {
			h.Fatal(err)
		}
		write, err := store.PrepareConfig(before, []byte(`{"a":1}`), store.Author{User: "alice", Via: "push"})
		if err != nil {
			h.Fatal(err)
		}
		h.write(func(tx *store.Tx) error {
			_, _, err := tx.WriteConfig(project.ID, write, store.Condition{})
			return err
		})
		want(`"by":"alice"`, `"via":"push"`)
		alice.do("DELETE", web, nil).want(200)
		if got, open := <-stream; open {
			h.Errorf("%s after the end", got)
		}
	})
}
