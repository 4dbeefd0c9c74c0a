package app_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
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

func TestNotRevoked_SaysWhatWasRevokedBefore(t *testing.T) {
	f := failure.Of(app.NotRevoked(&hubclient.Error{Code: wire.CodeNotFound}, "the token 0", []string{"1f0c2d9b8a77"}))
	if f.Action != "revoke the token 0" || f.Code != wire.CodeNotFound || f.Hint != "revoked before this failure: 1f0c2d9b8a77" {
		t.Errorf("%+v", f)
	}
	if f := failure.Of(app.NotRevoked(&hubclient.Error{Code: wire.CodeUnavailable}, "the token 0", nil)); f.Hint != "" {
		t.Errorf("%+v", f)
	}
}
