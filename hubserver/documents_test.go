package hubserver_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// described returns a description with a path and a filling, in n bytes and a bit.
func described(path string, n int) string {
	return fmt.Sprintf(
		`{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {"/%s": {"get": {"operationId": "%s"}}}, "x-long": %q}`,
		path, path, strings.Repeat("long ", n/5))
}

// wantNoDamage fails the test when the log reports damage, or another failure of the hub.
func (h *testHub) wantNoDamage() {
	h.Helper()
	if log := h.log.String(); strings.Contains(log, "damaged") || strings.Contains(log, `"level":"ERROR"`) {
		h.Errorf("the log has an error: %.2000s", log)
	}
}

func TestGetDocument_IsWholeWhenItIsReplacedMeanwhile(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, hub *testHub) {
		const path = "/v1/apis/acme/pets/document"
		alice := hub.as("alice")
		alice.post("/v1/apis/upload?account=acme&slug=pets", pets).want(201)
		for _, change := range []func(){
			func() { alice.put(path, pets).want(200) },
			func() { hub.as("anna").delete("/v1/apis/acme/pets").want(200) },
		} {
			alice.put(path, described("a", 15<<20)).want(200)
			req, err := hub.as("rita").request("GET", path, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := hub.client.Transport.(*recorder).next.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			change() // while most of it waits to be read
			if data, err := io.ReadAll(resp.Body); err != nil || string(data) != described("a", 15<<20) {
				t.Errorf("%d bytes were read, %v", len(data), err)
			}
			resp.Body.Close()
		}
		hub.wantNoDamage()
	})
}

func TestDocument_IsWholeWhileItIsReplaced(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		const api = "/v1/apis/acme/pets"
		texts := map[string]string{} // by digest
		var both []string
		for _, name := range []string{"a", "b"} {
			text := described(name, 100)
			both = append(both, text)
			texts[`"`+sha([]byte(text))+`"`] = text
		}
		hub.as("alice").put(api+"/document", both[1]).want(200)
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for _, path := range []string{api + "/document", api + "/targets", web + "/preview/api"} {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					got, err := hub.as("rita").try("GET", path, nil)
					if err != nil || got.status != http.StatusOK {
						t.Errorf("%s: %v, %v", path, got, err)
						return
					}
					text := texts[got.etag()]
					if !strings.HasSuffix(path, "/targets") && string(got.body) != text ||
						!bytes.Contains(got.body, []byte(
							text[len(`{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {`):][:4])) {
						t.Errorf("%s: %.300s is not of %s", path, got.body, got.etag())
						return
					}
				}
			})
		}
		for i := range 100 {
			hub.as("alice").put(api+"/document", both[i%2]).want(200)
		}
		close(stop)
		readers.Wait()
		hub.wantNoDamage()
	})
}
