package app

import (
	"strings"
	"time"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
)

// CheckTokenID checks the ID of a token that was typed. list is the command that shows IDs.
func CheckTokenID(id string, list cmdline.Line) error {
	if pat.ValidID(id) {
		return nil
	}
	return cmdline.Usagef("%q is not the ID of a token: it has 12 digits of 0-9 and a-f", id).Try(list)
}

// ExplainRevocation explains why a token was not revoked, after others were. list is the
// command that shows IDs.
func ExplainRevocation(hub *identity.Hub, err error, revoked []string, list cmdline.Line) failure.Failure {
	f := Explain(hub, err).At("revoke")
	if f.Code == wire.CodeNotFound {
		f = f.WithRecipe(list)
	}
	if len(revoked) > 0 {
		f = f.WithHint("revoked before this failure: %s", strings.Join(revoked, ", "))
	}
	return f
}

// TokenRow returns a row of a list of tokens.
func TokenRow(t wire.TokenInfo) []string {
	expires, used := "never expires", "never used"
	if t.ExpiresAt != nil {
		expires = "until " + t.ExpiresAt.UTC().Format(time.DateOnly)
	}
	if t.LastUsedAt != nil {
		used = "used " + t.LastUsedAt.UTC().Format(time.DateOnly)
	}
	scopes := "read"
	if len(t.Scopes) > 0 {
		scopes = strings.ReplaceAll(Scopes(t.Scopes), ", ", ",")
	}
	switch {
	case t.Account != "":
		scopes += " on @" + t.Account
	case !t.Project.IsZero():
		scopes += " on " + t.Project.String()
	}
	return []string{t.ID, t.Name, t.Shown + "…", scopes, expires, used}
}
