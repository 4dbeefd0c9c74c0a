package hubclient_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// exampleHub is the origin of a hub for the examples, which always gives the same responses.
var exampleHub = sync.OnceValue(func() string { return httptest.NewServer(http.HandlerFunc(exampleHandler)).URL })

func exampleHandler(w http.ResponseWriter, r *http.Request) {
	response := map[string]string{
		"GET /v1/whoami": `{"user": "alice", "tokenName": "laptop", "scopes": ["write:catalog"], "expiresAt": null, ` +
			`"accounts": []}`,
		"POST /v1/projects": `{"project": {"account": "acme", "slug": "web"}, "url": "https://hub.example.com/@acme/web", ` +
			`"api": {"account": "acme", "slug": "pets"}}`,
		"PUT /v1/projects/acme/web/client-config": `{"project": {"account": "acme", "slug": "web"}, "config": {"theme.color": "teal"}, "overwroteExistingConfig": false,
			"revision": "b4ce7ce4d3c5e2a9d0e7cf0b8d3c3e1f5a6978899aabbccddeeff00112233445"}`,
	}[r.Method+" "+r.URL.Path]
	w.Header().Set("Hub-Version", "1.0.0")
	w.Header().Set("Content-Type", "application/json")
	status := map[string]int{"GET": 200, "PUT": 200, "POST": 201}[r.Method]
	if response == "" {
		w.Header().Set("Content-Type", "application/problem+json")
		status, response = 404, `{"code": "not_found", "detail": "there is no project `+r.URL.Path+`", "status": 404}`
	}
	w.WriteHeader(status)
	io.WriteString(w, response)
}

func exampleClient() *hubclient.Client {
	client, err := hubclient.New(hubclient.Options{Origin: exampleHub(), Token: token, UserAgent: "example/1"})
	if err != nil {
		panic(err)
	}
	return client
}

func ExampleNew() {
	client, err := hubclient.New(hubclient.Options{Origin: exampleHub(), Token: token})
	if err != nil {
		panic(err)
	}
	me, err := client.Whoami(context.Background())
	fmt.Println(me.Name(), me.Has(wire.ScopeWriteConfig), err)
	// Output:
	// alice true <nil>
}

// Only a project that this program has just created can be seeded.
func ExampleCreated_SeedConfig() {
	ctx, client := context.Background(), exampleClient()
	created, err := client.CreateProject(ctx, wire.CreateProject{Account: "acme", Slug: "web", Stack: "acme/site"})
	if err != nil {
		panic(err)
	}
	written, err := created.SeedConfig(ctx, wire.PutConfig{Settings: []byte(`{"theme": {"color": "teal"}}`)})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s %s\n", created.Project().URL, written.Config)
	// Output:
	// https://hub.example.com/@acme/web {"theme.color": "teal"}
}

func ExampleHasCode() {
	other, err := ref.Parse("@acme/other")
	if err != nil {
		panic(err)
	}
	_, err = exampleClient().Project(context.Background(), other)
	fmt.Println(hubclient.HasCode(err, wire.CodeNotFound), err)
	// Output:
	// true there is no project /v1/projects/acme/other
}
