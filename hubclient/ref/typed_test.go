package ref_test

import (
	"testing"

	"example.com/projecthub/hubclient/ref"
)

func TestParseTyped_TakesARefWithAndWithoutItsAt(t *testing.T) {
	for typed, want := range map[string]string{
		"@acme/web": "@acme/web", "acme/web": "@acme/web", "web": "", "@web": "", "": "", "/": "", "@@acme/web": "",
		"acme/web/x": "", "Acme/web": "", "/web": "",
	} {
		r, err := ref.ParseTyped(typed)
		if r.String() != want || (err == nil) != (want != "") {
			t.Errorf("%q is read as %q, %v", typed, r, err)
		}
	}
}
