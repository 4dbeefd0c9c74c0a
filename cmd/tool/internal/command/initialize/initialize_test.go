package initialize_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/initialize"
)

func TestInit_CreatesALocalProject(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(initialize.Command, "web", "--stack", "@acme/web", "--base-path", "app").Done().Prints("Created the local project web", "tool", "login")
	if stack := w.Read(".tool/web/stack.json"); !strings.Contains(stack, `"@acme/web"`) {
		t.Errorf("stack.json is %s", stack)
	}
	if client := w.Read(".tool/web/client.json"); !strings.Contains(client, `"app"`) {
		t.Errorf("client.json is %s", client)
	}
	w.Run(initialize.Command, "web", "--stack", "@acme/web", "--json").Exits(1)
}

func TestInit_AsksForTheAccount(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.UI.Answers = []string{"@acme"}
	w.Run(initialize.Command, "web").Done()
	if stack := w.Read(".tool/web/stack.json"); !strings.Contains(stack, `"@acme/web"`) {
		t.Errorf("stack.json is %s", stack)
	}
}

func TestInit_LeavesTheNameToThePublishWithoutATerminal(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Run(initialize.Command, "web").Done().Prints("the first publish names the stack")
	w.Run(initialize.Command, "web", "--stack", "acme web").Exits(2)
	w.Run(initialize.Command, "We b", "--json").Fails("invalid_name", "init")
}
