package app

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// Formats of text output.
const (
	FormatText     = "text"
	FormatMarkdown = "markdown"
)

// CheckFormat rejects unknown values of --format, and markdown together with --json.
func (a *App) CheckFormat(format string) error {
	switch {
	case format != FormatText && format != FormatMarkdown:
		return cmdline.Usagef("--format is text or markdown, not %q", format)
	case format == FormatMarkdown && a.JSON:
		return cmdline.Usagef("--format markdown and --json exclude each other")
	}
	return nil
}

// FormatFlag adds --format to a command.
func FormatFlag(c *cobra.Command, format *string) {
	c.Flags().StringVar(format, "format", FormatText, "print `text|markdown`; markdown is for a comment on a pull request")
	c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{FormatText, FormatMarkdown}, cobra.ShellCompDirectiveNoFileComp))
}

// Markdown returns text for a comment on a pull request: shown as it is, without any
// effect there. <code> prevents mentions, and all characters except letters, digits and
// spaces are entities, so that none is markup.
func Markdown(text string) string {
	text = escape.Line(pat.Redact(text))
	if strings.TrimSpace(text) == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range text {
		if r <= '~' && r != ' ' && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String() + "</code>"
}

// MarkdownHub writes which hub, and which environment, a comment is about.
func MarkdownHub(w *Printer, origin, env string) {
	w.Line("")
	if env == "" {
		w.Line("Hub: %s", Markdown(origin))
	} else {
		w.Line("Hub: %s, environment: %s", Markdown(origin), Markdown(env))
	}
}

// MarkdownDifference writes a difference as a table, all of it if full.
func MarkdownDifference(w *Printer, d flat.Difference, full bool) {
	if d.Empty() {
		return
	}
	w.Line("")
	w.Line("| | key | on the hub | here |")
	w.Line("|---|---|---|---|")
	width, most := maxValue, MaxShown
	if full {
		width, most = math.MaxInt, math.MaxInt
	}
	words := map[string]string{"+": "added", "~": "changed", "-": "removed"}
	for i, c := range Changes(d) {
		if i == most {
			w.Line("| | … and %d more | | |", d.Len()-most)
			break
		}
		from, to := c.Old, c.New
		if c.Sign == "~" {
			from, to = tui.Values(from, to, width)
		} else {
			from, to = tui.Shorten(pat.Redact(from), width), tui.Shorten(pat.Redact(to), width)
		}
		w.Line("| %s | %s | %s | %s |", words[c.Sign], Markdown(c.Key), Markdown(from), Markdown(to))
	}
}
