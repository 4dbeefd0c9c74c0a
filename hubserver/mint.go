package hubserver

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// A signed-in user mints tokens: on the page of tokens, and by approving a terminal. No
// such token can do more, or lasts longer, than the token behind the session.

const day = 24 * time.Hour

// lifetimes are what a form offers, in days; 0: the token never expires.
var lifetimes = []int{1, 7, 30, 90, 365, 0}

// usualLifetime is the preset lifetime, in days.
const usualLifetime = 90

// untilParent is the lifetime up to the end of the token behind the session.
const untilParent = "parent"

// scopeTexts say what a scope is for.
var scopeTexts = map[wire.Scope]string{
	wire.ScopeWriteConfig:   "push to projects that exist",
	wire.ScopeWriteCatalog:  "create projects, publish stacks, register APIs; includes write:config",
	wire.ScopeAdminResource: "delete, invite, set rate limits",
	wire.ScopeUseLimit:      "count the requests of a bot",
}

// choices are what the caller can choose for a token.
func (c *call) choices() page.Choices {
	var all page.Choices
	for _, scope := range wire.Scopes {
		if wire.HasScope(c.who.scopes, scope) {
			preset := scope == wire.ScopeWriteConfig || scope == wire.ScopeWriteCatalog
			all.Scopes = append(all.Scopes, page.ScopeChoice{Name: string(scope), About: scopeTexts[scope], Checked: preset})
		}
	}
	end := c.who.session.TokenEnds
	for _, days := range lifetimes {
		if fits(days, end) {
			all.Lifetimes = append(all.Lifetimes, page.Lifetime{Value: strconv.Itoa(days), Text: lifetimeText(days), Selected: days == usualLifetime})
		}
	}
	if end != 0 {
		all.Lifetimes = append(all.Lifetimes, page.Lifetime{
			Value: untilParent, Text: "until " + end.Time().Format("2 January 2006") + ", with this session's token", Selected: !fits(usualLifetime, end),
		})
	}
	return all
}

// fits reports whether a lifetime in days ends before a token does.
func fits(days int, end store.Time) bool {
	return end == 0 || days != 0 && time.Now().Add(time.Duration(days)*day).Before(end.Time())
}

func lifetimeText(days int) string {
	switch days {
	case 0:
		return "never expires"
	case 1:
		return "1 day"
	}
	return fmt.Sprintf("%d days", days)
}

// noTokens is why the session creates no tokens, as [Server.createToken] creates none with its
// token; "" if it does.
func (c *call) noTokens() string {
	switch {
	case c.who.only.OnlyAccount != "":
		return fmt.Sprintf("this session is restricted to %s: it creates no tokens", c.who.only)
	case len(c.who.scopes) == 0:
		return "this session can only read: it creates no tokens"
	}
	return ""
}

// chosen are the scopes and the end of a token that a form asks for.
func (c *call) chosen(form url.Values, now store.Time) (scopes string, ends store.Time, err error) {
	if why := c.noTokens(); why != "" {
		return "", 0, invalidBody("", "%s", why)
	}
	var names []string
	for _, name := range form["scope"] {
		scope := wire.Scope(name)
		if !slices.Contains(wire.Scopes, scope) {
			return "", 0, invalidBody("/scope", "there is no scope %q", name)
		}
		if !wire.HasScope(c.who.scopes, scope) {
			return "", 0, invalidBody("/scope", "the session lacks the scope %s, and so would the token", scope)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	end := c.who.session.TokenEnds
	if lifetime := form.Get("lifetime"); lifetime == untilParent {
		ends = end
	} else {
		days, err := strconv.Atoi(lifetime)
		if err != nil || !slices.Contains(lifetimes, days) {
			return "", 0, invalidBody("/lifetime", "choose how long the token is valid")
		}
		if days != 0 {
			ends = now + store.Time((time.Duration(days) * day).Microseconds())
		}
	}
	if end != 0 && (ends == 0 || ends > end) {
		return "", 0, invalidBody("/lifetime", "the token behind this session ends on %s, and so does what is created with it", formatTime(end.Time()))
	}
	return strings.Join(slices.Compact(names), " "), ends, nil
}

// maxTokenName bounds the name of a token, in characters.
const maxTokenName = 128

// checkTokenName refuses a name that lists could not show as it is.
func checkTokenName(name string) error {
	if name == "" || !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxTokenName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return invalidBody("/name", "a name has 1 to %d printable characters", maxTokenName)
	}
	return nil
}

// tooManyTokens is the refusal to mint yet another token.
func tooManyTokens(user string) *problem {
	return problemf(http.StatusUnprocessableEntity, wire.CodeInvalidBody, "%s has too many tokens: revoke some", user)
}
