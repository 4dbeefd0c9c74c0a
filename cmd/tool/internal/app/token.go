package app

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
)

// CheckTokenID checks the ID of a token that was typed. list is the command that shows IDs.
func CheckTokenID(id string, list cmdline.Line) error {
	if pat.ValidID(id) {
		return nil
	}
	return cmdline.Usagef("%q is not the ID of a token: it has 12 digits of 0-9 and a-f", id).Try(list)
}

// ExpiresUsage describes the flag --expires of a new token.
const ExpiresUsage = "set the `LIFETIME`, such as 12h, 90d or 52w, or never " +
	"(default 90d, or until your token expires)"

// NotRevoked returns why the token that what names was not revoked, after others were.
func NotRevoked(err error, what string, revoked []string) error {
	f := failure.Of(err)
	if len(revoked) > 0 {
		f = f.WithHint("revoked before this failure: %s", strings.Join(revoked, ", "))
	}
	return failure.Doing(f, "", "revoke %s", what)
}

// NewToken is the part of a result that has the one whole token: the one that was just
// created. In text the token is alone on stdout, and the notes go to stderr.
type NewToken struct {
	Noted `json:",inline"`
	token string
}

// CheckNewToken returns a token that the hub created, if it is one.
func CheckNewToken(token string) (n NewToken, err error) {
	if !pat.Valid(token) {
		return n, errors.New("the hub's response has no valid token")
	}
	n.token = token
	n.Note("this token is shown once; the hub keeps only its hash")
	return n, nil
}

// Effect says that the token is valid.
func (*NewToken) Effect() string { return "the token was created" }

// Text writes the token.
func (n *NewToken) Text(w *Printer) { _, w.err = fmt.Fprintln(w.w, n.token) }

func (*NewToken) secret() {}

// maxTokenName bounds the columns of a token's name in a list, which fits into 80.
const maxTokenName = 24

// Tokens lists tokens: of each a line with its name and its times, and one with what it can do.
func (p *Printer) Tokens(tokens []wire.TokenInfo) {
	names, width := make([]string, len(tokens)), 0
	for i, t := range tokens {
		names[i] = tui.Shorten(t.Name, maxTokenName)
		width = max(width, utf8.RuneCountInString(names[i]))
	}
	for i, t := range tokens {
		expires, used := "never expires", "never used"
		if t.ExpiresAt != nil {
			expires = "until " + t.ExpiresAt.UTC().Format(time.DateOnly)
		}
		switch {
		case t.Self:
			used = "in use"
		case t.LastUsedAt != nil:
			used = "used " + t.LastUsedAt.UTC().Format(time.DateOnly)
		}
		p.Line("%s  %-*s  %-16s  %s", t.ID, width, names[i], expires, used)
		p.Line("  %s…  %s", t.Shown, may(t))
	}
}

// may says what a token can do.
func may(t wire.TokenInfo) string {
	text := "read" + restricted(t.Restriction)
	if len(t.Scopes) > 0 {
		text = strings.ReplaceAll(Scopes(t.Scopes, t.Restriction), ", ", ",")
	}
	if t.Bot != "" {
		text += ", bot " + t.Bot
	}
	return text
}
