package ref_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"example.com/projecthub/hubclient/ref"
)

func TestParse_AcceptsOnlyValidRefs(t *testing.T) {
	long := strings.Repeat("a", 64)
	for text, ok := range map[string]bool{
		"@acme/web": true, "@a/b": true, "@0/9": true, "@a-b/c--d": true, "@" + long + "/" + long: true,
		"": false, "acme/web": false, "@acme": false, "@acme/": false, "@/web": false, "@acme/web/x": false,
		"@Acme/web": false, "@acme/-web": false, "@acme/web-": false, "@acme/we b": false, "@acme/wéb": false,
		"@@acme/web": false, "@acme/" + long + "a": false, "@acme/web\n": false, " @acme/web": false,
	} {
		r, err := ref.Parse(text)
		if (err == nil) != ok {
			t.Errorf("Parse(%q): %v", text, err)
		}
		if ok && r.String() != text {
			t.Errorf("Parse(%q) reads back as %q", text, r)
		}
	}
}

func TestParse_ErrorNamesInvalidPart(t *testing.T) {
	for text, part := range map[string]string{"@A/b": `"A" is not an account`, "@a/B": `"B" is not a slug`,
		"a/b": "@account/slug"} {
		if _, err := ref.Parse(text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Parse(%q): %v, want it to say %s", text, err, part)
		}
	}
}

func TestRef_JSON(t *testing.T) {
	r, err := ref.New("acme", "web")
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(r)
	if want := `{"account":"acme","slug":"web"}`; err != nil || string(data) != want {
		t.Fatalf("Marshal = %s, %v; want %s", data, err, want)
	}
	var back ref.Ref
	if err := json.Unmarshal(data, &back); err != nil || back != r {
		t.Errorf("Unmarshal = %v, %v", back, err)
	}
	for _, bad := range []string{`null`, `{}`, `{"account":"acme"}`, `{"account":"A","slug":"b"}`, `"@acme/web"`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("Unmarshal(%s) succeeded", bad)
		}
	}
}

func TestRef_UnmarshalLeavesUnknownMembersToTheDecodersOptions(t *testing.T) {
	const later = `{"account":"acme","slug":"web","x":1}`
	var r ref.Ref
	if err := json.Unmarshal([]byte(later), &r, json.RejectUnknownMembers(false)); err != nil ||
		r.String() != "@acme/web" {
		t.Errorf("a client reads %v, %v", r, err)
	}
	if err := json.Unmarshal([]byte(later), &r, json.RejectUnknownMembers(true)); !errors.Is(err, json.ErrUnknownName) {
		t.Errorf("a hub accepts it: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"@acme/web", "@a/b/c", "", "@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ref.Parse(s)
		if err == nil && (r.String() != s || r.IsZero()) {
			t.Errorf("Parse(%q) = %q", s, r)
		}
		if p, err2 := ref.ParsePath(strings.TrimPrefix(s, "@")); err == nil && (err2 != nil || p != r) {
			t.Errorf("ParsePath disagrees on %q: %v, %v", s, p, err2)
		}
	})
}
