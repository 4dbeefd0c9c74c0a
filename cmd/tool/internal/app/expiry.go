package app

import (
	"fmt"
	"sync"
	"time"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/hubclient/pat"
)

// expiresSoon is how long before its end a token expires soon.
const expiresSoon = 14 * 24 * time.Hour

// ExpiresSoon reports whether a token that expires at end, nil for never, should be replaced.
func ExpiresSoon(end *time.Time) bool { return end != nil && time.Until(*end) < expiresSoon }

// expiring is a token that was used and expires soon.
type expiring struct {
	mu  sync.Mutex
	id  *identity.Identity // nil: there is none
	end time.Time
}

// note remembers when the token of id expires, if it is soon.
func (e *expiring) note(id *identity.Identity, end time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ExpiresSoon(&end) && time.Until(end) > 0 {
		e.id, e.end = id, end
	}
}

// warnOfExpiry warns, once a day, that the token in use expires soon, and says how to get
// another one.
func (a *App) warnOfExpiry() {
	a.expiring.mu.Lock()
	defer a.expiring.mu.Unlock()
	id := a.expiring.id
	if id == nil || a.Command == "login" { // which asks for another one, and prints when that expires
		return
	}
	a.expiring.id = nil
	line := fmt.Sprintf("create another one at %s/tokens, or for a bot with tool bot token", id.Origin)
	if id.TokenSource == identity.FromLogin {
		logins, err := a.Logins()
		if err != nil {
			return
		}
		if login, _ := logins.Find(id.Origin); login.Token != id.Token {
			return // it was forgotten or replaced
		}
		line = "to get another one: " + a.CommandText(cmdline.Tool("login").Flag("--origin", id.Origin))
	}
	dir, err := a.directory("TOOL_STATE_DIR", userStateDir)
	if err != nil {
		dir = ""
	}
	if state.Due(dir, pat.ID(id.Token), 24*time.Hour) {
		a.Warn(fmt.Sprintf("the token of %s expires on %s; %s", id.TokenPlace(), endText(a.expiring.end), line))
	}
}
