package app_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

var tokenList = cmdline.Tool("token", "list")

func TestCheckTokenID_NamesTheListOfIDs(t *testing.T) {
	if err := app.CheckTokenID("1f0c2d9b8a77", tokenList); err != nil {
		t.Error(err)
	}
	if err := app.CheckTokenID("laptop", tokenList); err == nil || !strings.Contains(err.Error(), `"laptop" is not the ID of a token`) {
		t.Errorf("%v", err)
	}
}

func TestExplainRevocation_SaysWhatWasRevokedBefore(t *testing.T) {
	f := app.ExplainRevocation(nil, &hubclient.Error{Code: wire.CodeNotFound}, []string{"1f0c2d9b8a77"}, tokenList)
	if f.Stage != "revoke" || f.Hint != "revoked before this failure: 1f0c2d9b8a77" || len(f.Recipe) != 1 || f.Recipe[0].String() != tokenList.String() {
		t.Errorf("%+v", f)
	}
	if f := app.ExplainRevocation(nil, &hubclient.Error{Code: wire.CodeUnavailable}, nil, tokenList); f.Hint != "" || len(f.Recipe) != 0 {
		t.Errorf("%+v", f)
	}
}
