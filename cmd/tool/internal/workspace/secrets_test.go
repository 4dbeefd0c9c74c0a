package workspace_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
)

func TestCheckSecrets_FindsTokenWithPosition(t *testing.T) {
	token := pat.New()
	for text, place := range map[string]string{
		fmt.Sprintf("{\n  \"settings\": {\"key\": %q}}", token): clientJSON +
			":2:24: an access token is written here (" + token[:12] + "…)",
		fmt.Sprintf(`{"settings": {%q: 1}}`, token): clientJSON +
			":1:16: an access token",
		fmt.Sprintf(`{"settings": {"key": "%s"}}`, strings.Replace(token, "h", `\u0068`, 1)): clientJSON +
			": an access token",
	} {
		c := newClient(t, text)
		config, err := c.Config()
		if err != nil {
			t.Fatal(err)
		}
		wantFault(t, c.CheckSecrets(config), failure.CodeTokenInFile, place)
	}
	if err := newClient(t, `{"settings": {"key": "hubpat_x"}}`).CheckSecrets(flat.Config{}); err != nil {
		t.Error(err)
	}
}
