package pat_test

import (
	"strings"
	"testing"

	"example.com/projecthub/hubclient/pat"
)

func TestRedact_ShowsAtMostTheBeginningOfAToken(t *testing.T) {
	token := pat.New()
	other := pat.New()
	for text, want := range map[string]string{
		"no secret, not even a path_name_that_is_long": "no secret, not even a path_name_that_is_long",
		token:                                 token[:12] + "…",
		`{"name": "` + token + `"}`:           `{"name": "` + token[:12] + `…"}`,
		token + "," + other:                   token[:12] + "…," + other[:12] + "…",
		"@alice/" + token:                     "@alice/" + token[:12] + "…",
		token + "x":                           token[:12] + "…",
		"x" + token:                           token[:12] + "…",
		token + other:                         token[:12] + "…",
		token[:len(token)-1]:                  "(redacted)",
		token[:20] + "-" + token[20:]:         "(redacted)",
		strings.ToUpper(token):                "(redacted)",
		token[1:]:                             "(redacted)",
		token[3:]:                             "(redacted)",
		"hubpat_x":                            "(redacted)",
		"the token " + token[:12] + "… of":    "the token " + token[:12] + "… of",
		"hubpat_ and 38 letters":              "hubpat_ and 38 letters",
		"hubpat_" + token:                     token[:12] + "…",
		"a pat_tern stays, in CAPITALS: PAT_": "a pat_tern stays, in CAPITALS: PAT_",
	} {
		if got := pat.Redact(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func FuzzRedact_LeavesNoToken(f *testing.F) {
	f.Add("before ", " after", 0)
	f.Add("hubpat_", "pat_", 3)
	f.Fuzz(func(t *testing.T, before, after string, cut int) {
		token := pat.New()
		redacted := pat.Redact(before + token + after)
		if pat.Index([]byte(redacted)) >= 0 || strings.Contains(redacted, token[13:]) {
			t.Errorf("%q%s%q becomes %q", before, token, after, redacted)
		}
		if pat.Redact(redacted) != redacted {
			t.Errorf("%q is redacted again", redacted)
		}
	})
}
