package api_test

import (
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/api"
)

func TestList(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(api.Command, "list").Done().Prints("No APIs that you can see")
	w.Project(`{"title": "hub"}`)
	w.Run(api.Command, "list").Done().Prints("@alice/", "openapi-3", "by alice")
	w.Run(api.Command, "list", "@alice", "--json").Done().Prints(`"type":"apis"`, `"title":"Web"`)
	w.Run(api.Command, "list", "bob", "--json").Fails("not_permitted", "list")
	w.Run(api.Command, "list", "Not An Account").Exits(2)
}
