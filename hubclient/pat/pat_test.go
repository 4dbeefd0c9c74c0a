package pat_test

import (
	"strings"
	"testing"

	"example.com/projecthub/hubclient/pat"
)

func TestNew_TokensAreValidAndDistinct(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		token := pat.New()
		if !pat.Valid(token) || len(token) != pat.Length || seen[token] {
			t.Fatalf("New returned %q", token)
		}
		seen[token] = true
	}
}

func TestValid_RejectsTypos(t *testing.T) {
	token, typos := pat.New(), 0
	for range 3 {
		for i := range token {
			for c := range byte(128) {
				if token[i] == c {
					continue
				}
				typo := token[:i] + string(c) + token[i+1:]
				if typos++; pat.Valid(typo) {
					t.Errorf("%q is valid though character %d was changed", typo, i)
				}
			}
		}
		token = pat.New()
	}
	t.Logf("%d typos", typos)
	for _, bad := range []string{"", "hubpat_", token + "x", token[1:], strings.ToUpper(token)} {
		if pat.Valid(bad) {
			t.Errorf("%q is valid", bad)
		}
	}
}

func TestShown_HidesMalformedToken(t *testing.T) {
	token := pat.New()
	if got := pat.Shown(token); got != token[:12] {
		t.Errorf("Shown = %q, want %q", got, token[:12])
	}
	if got := pat.Shown(token + "x"); got != "" {
		t.Errorf("Shown of a malformed token = %q", got)
	}
}

func TestIndex_FindsTokenAmongLookalikes(t *testing.T) {
	token := pat.New()
	typo := "hubpat_" + strings.Repeat("a", pat.Length-len("hubpat_"))
	text := "hubpat_ " + typo + "\nkey = " + token + "\n"
	if got, want := pat.Index([]byte(text)), strings.Index(text, token); got != want {
		t.Errorf("Index = %d, want %d", got, want)
	}
	if got := pat.Index([]byte(typo)); got != -1 {
		t.Errorf("Index of a lookalike = %d, want -1", got)
	}
}

func FuzzValid(f *testing.F) {
	f.Add(pat.New())
	f.Add("hubpat_")
	f.Fuzz(func(t *testing.T, s string) {
		if pat.Valid(s) != (pat.Index([]byte(s)) == 0 && len(s) == pat.Length) {
			t.Errorf("Valid and Index disagree on %q", s)
		}
	})
}
