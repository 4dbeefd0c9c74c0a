// Package tuitest checks that views show texts of others safely. Only tests import it.
package tuitest

import (
	"strings"
	"testing"

	"example.com/projecthub/hubclient/pat"
)

// Hostile are texts that would do something to a terminal, each with the part that
// must not be shown as it is.
var Hostile = map[string]string{
	"OSC 0":         "\x1b]0;title\x07",
	"OSC 52":        "\x1b]52;c;ZWNobw==\x1b\\",
	"OSC 8":         "\x1b]8;;https://example.com\x1b\\",
	"CSI":           "\x1b[2J\x1b[H",
	"DCS":           "\x1bP$q\x1b\\",
	"C1 CSI":        "\u009b2J",
	"raw C1":        "\x9b2J",
	"carriage":      "safe\roverwritten",
	"backspace":     "safe\b\b\b\b",
	"bell":          "\x07",
	"delete":        "\x7f",
	"bidi override": "\u202egnp.exe",
	"bidi isolate":  "\u2066abc\u2069",
	"token":         pat.New(),
}

// CheckShown checks that a view shows nothing that a terminal would act on, apart
// from the colours that the view itself paints with.
func CheckShown(t testing.TB, shown, text string) {
	t.Helper()
	for i, part := range strings.Split(shown, "\x1b") {
		if i > 0 && !strings.HasPrefix(part, "[") || strings.HasPrefix(part, "[2J") {
			t.Errorf("an escape sequence is shown: %q in %q", part, shown)
		}
	}
	for _, r := range shown {
		control := r < ' ' && r != '\n' && r != '\x1b' || r >= 0x7f && r <= 0x9f
		bidi := r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		if control || bidi {
			t.Errorf("%U is shown: %q", r, shown)
		}
	}
	if pat.Index([]byte(shown)) >= 0 || pat.Valid(text) && strings.Contains(shown, text[20:]) {
		t.Errorf("a token is shown: %q", shown)
	}
}
