// Command generators does the main job at a hub, with the client that oapi-codegen
// generates from the hub's description:
//
//	generators ORIGIN TOKEN
//
// It publishes bundle.tgz as a stack, registers pets.json as an API, and binds both in a project.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	"example.com/projecthub/ci/generators/hub"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, origin, token string) error {
	authorize := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
	client, err := hub.NewClientWithResponses(origin, hub.WithRequestEditorFn(authorize))
	if err != nil {
		return err
	}
	absent, err := client.GetProjectWithResponse(ctx, "acme", "web")
	if err != nil {
		return err
	}
	if p := absent.ApplicationproblemJSON404; p == nil || p.Code != hub.NotFoundCodeNotFound {
		return fmt.Errorf("get the project before it exists: %s: %s", absent.Status(), absent.Body)
	}

	description, err := os.ReadFile("pets.json")
	if err != nil {
		return err
	}
	upload := &hub.UploadApiParams{Account: new("acme"), Slug: new("pets")}
	api, err := client.UploadApiWithBodyWithResponse(ctx, upload, "application/json", bytes.NewReader(description))
	if err != nil {
		return err
	}
	if api.JSON201 == nil {
		return fmt.Errorf("upload the API: %s: %s", api.Status(), api.Body)
	}

	bundle, err := os.Open("bundle.tgz")
	if err != nil {
		return err
	}
	defer bundle.Close()
	stack, err := client.PublishStackVersionWithBodyWithResponse(ctx, "acme", "site", "1.0.0", nil,
		"application/gzip", bundle)
	if err != nil {
		return err
	}
	if stack.JSON201 == nil || !stack.JSON201.FirstVersion {
		return fmt.Errorf("publish the stack: %s: %s", stack.Status(), stack.Body)
	}

	created, err := client.CreateProjectWithResponse(ctx, nil, hub.CreateProject{
		Account: "acme", Slug: "web", Stack: new("acme/site"), Api: &api.JSON201.Api, Visibility: new(hub.Private),
	})
	if err != nil {
		return err
	}
	if created.JSON201 == nil || created.JSON201.ResolvedStackVersion != "1.0.0" || created.JSON201.BaseFiles != nil {
		return fmt.Errorf("create the project: %s: %s", created.Status(), created.Body)
	}

	settings := map[string]any{"site": map[string]any{"title": "Pets", "pages": 3}}
	written, err := client.PutClientConfigWithResponse(ctx, "acme", "web", nil, hub.PutConfig{Settings: &settings})
	if err != nil {
		return err
	}
	if written.JSON200 == nil || written.JSON200.Replaced != nil {
		return fmt.Errorf("put the config: %s: %s", written.Status(), written.Body)
	}

	config, err := client.GetConfigWithResponse(ctx, "acme", "web", nil)
	if err != nil {
		return err
	}
	if config.JSON200 == nil || config.JSON200.Revision != written.JSON200.Revision || !config.JSON200.HasConfig {
		return fmt.Errorf("get the config: %s: %s", config.Status(), config.Body)
	}
	list, err := client.ListProjectsWithResponse(ctx, &hub.ListProjectsParams{Account: new("acme"), Limit: new(10)})
	if err != nil {
		return err
	}
	if list.JSON200 == nil || list.JSON200.NextCursor != "" {
		return fmt.Errorf("list the projects: %s: %s", list.Status(), list.Body)
	}
	flat, err := json.Marshal(config.JSON200.Config)
	if err != nil {
		return err
	}
	for _, p := range list.JSON200.Projects {
		fmt.Printf("@%s/%s %s\n", p.Project.Account, p.Project.Slug, flat)
	}
	return nil
}
