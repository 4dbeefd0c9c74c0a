package child_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/child"
	"example.com/projecthub/hubclient/pat"
)

func TestEnvironment_HasNoSecrets(t *testing.T) {
	token := pat.New()
	env := []string{
		"PATH=/bin", "TOOL_HUB_TOKEN=" + token, "tool_hub_token=mistyped", "HUB_DB=postgres://hub:secret@db/hub", "HUB_LISTEN=:1",
		"MINE=Bearer " + token, "TOOL_API_ORIGIN=https://hub.example.com", "EMPTY=", "HTTPS_PROXY=http://proxy",
	}
	want := []string{"PATH=/bin", "TOOL_API_ORIGIN=https://hub.example.com", "EMPTY=", "HTTPS_PROXY=http://proxy"}
	if diff := cmp.Diff(want, child.Environment(env)); diff != "" {
		t.Error(diff)
	}
}

func TestCommand_HasNoSecretsInItsEnvironment(t *testing.T) {
	t.Setenv("TOOL_HUB_TOKEN", pat.New())
	c, err := child.Command(t.Context(), "go", "version")
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range c.Env {
		if pat.Index([]byte(variable)) >= 0 {
			t.Errorf("the environment has %s", variable)
		}
	}
	if c.Env == nil {
		t.Error("the environment is inherited")
	}
}
