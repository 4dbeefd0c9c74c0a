package api

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/projecthub/hubclient/ref"
)

func TestSlugOf_FromTitle(t *testing.T) {
	long := strings.Repeat("abcdefghi ", 10)
	for title, want := range map[string]string{
		"Pet Store API v2":    "pet-store-api-v2",
		"petstore":            "petstore",
		"  --Pet__Store!! ":   "pet-store",
		"Bob's Café Straße":   "bobs-cafe-strasse",
		"ﬁnance №5":           "finance-no5",
		"Pet Store 予約":        "pet-store",
		"予約":                  "api",
		"Привет 2":            "api",
		"":                    "api",
		"2.0":                 "api",
		"v2":                  "v2",
		"\xff\xfe a\x00b":     "a-b",
		"a" + long[:57] + "z": "a" + strings.ReplaceAll(long[:57], " ", "-"),
		long[:57] + "   tail": strings.ReplaceAll(long[:57], " ", "-"),
	} {
		if got := slugOf(title); got != want {
			t.Errorf("slugOf(%q) = %q, want %q", title, got, want)
		}
	}
}

func TestSlugOf_IsValidAndLeavesRoomForNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		title := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z0-9 .-]{0,100}`)).Draw(t, "title")
		slug := slugOf(title)
		if !ref.ValidName(slug) || !ref.ValidName(slug+"-37999") {
			t.Errorf("slugOf(%q) = %q", title, slug)
		}
		if slugOf(slug) != slug {
			t.Errorf("the slug of %q is %q", slug, slugOf(slug))
		}
	})
}

func FuzzSlugOf(f *testing.F) {
	f.Add("Pet Store API v2")
	f.Add("ÀÉÎ’õ")
	f.Fuzz(func(t *testing.T, title string) {
		if slug := slugOf(title); !ref.ValidName(slug + "-37999") {
			t.Errorf("slugOf(%q) = %q", title, slug)
		}
	})
}
