// Package app holds what every command receives: streams, settings of the command line
// and the environment, the identity, the local project, and the printer, which alone
// knows quoting, exit codes, and the text and JSON forms of results and failures.
//
// It knows no command. What is asked is behind [prompts.UI].
package app

import (
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// App is what every command works with.
type App struct {
	Streams   term.Streams
	LookupEnv func(string) (string, bool)
	UI        prompts.UI
	Cache     string // directory for what can be made again; "": the user's

	// Flags of every command.
	JSON, NoInput, Verbose bool
	Dir                    string
	Timeout                time.Duration

	// Flags of the commands that call the hub.
	Token, Origin Optional

	Env Optional // of the commands that take an environment

	Command string // the running one, without the program's name

	commands  *cobra.Command        // all of them
	ended     func() syscall.Signal // by which signal, 0 for none
	collects  bool                  // JSON documents, of several projects
	collected []jsontext.Value      // instead of printing them

	warning sync.Mutex
	held    []string // warnings that would have damaged a view

	loaded *identity.Logins
	id     *identity.Identity
	hub    *string // origin of the workspace's hub, once it was read

	env, envOrigin string // the environment in use, and the origin of its hub; "": none

	expiring expiring

	owned          bool   // root was warned that another user owns the workspace
	warned, agreed string // the origins of other hubs that were warned of, or agreed to
}

// New returns the App of one command line.
func New(lookupEnv func(string) (string, bool), streams term.Streams) *App {
	a := &App{
		Streams: streams, LookupEnv: lookupEnv, ended: func() syscall.Signal { return 0 },
	}
	ui := &prompts.Terminal{
		In: streams.In, Out: streams.Out, Err: streams.Err, Size: streams.Size,
		IsPlain: a.Getenv("TERM") == "dumb" || a.Getenv("ACCESSIBLE") == "1",
		Say:     func(line string) { a.Diagnose("%s", line) }, Status: a.StatusLine,
	}
	a.UI, a.Streams.Out, a.Streams.Err = ui, ui.Above(streams.Out), ui.Above(streams.Err)
	return a
}

// StatusLine names the hub and the identity, "" while a login chooses them.
func (a *App) StatusLine() string {
	id, err := a.Identity()
	if err != nil || a.Command == "login" {
		return ""
	}
	line := id.Origin
	switch {
	case id.User != "":
		line += " as " + id.User
	case id.Token == "":
		line += ", not logged in"
	}
	if a.env != "" {
		line = a.env + ": " + line
	}
	return a.MarkHub(line)
}

// Getenv returns an environment variable, "" for none.
func (a *App) Getenv(name string) string {
	value, _ := a.LookupEnv(name)
	return value
}

// Strict reports that nothing may be asked and nothing may move.
func (a *App) Strict() bool { return a.JSON || a.NoInput || a.inCI() || !a.Streams.Interactive() }

// inCI reports that the variable CI is set: no person is present, even if stdin is a terminal.
func (a *App) inCI() bool {
	switch strings.ToLower(a.Getenv("CI")) {
	case "", "0", "false":
		return false
	}
	return true
}

// EndedBy returns the signal that ended the command, 0 for none.
func (a *App) EndedBy() syscall.Signal { return a.ended() }

// Forget drops the identity: a command of the home view may have changed it.
func (a *App) Forget() { a.id, a.loaded, a.hub = nil, nil, nil }

// Progress returns what shows a transfer: a redrawn line on a terminal, a plain line
// now and then elsewhere, nothing with --json.
func (a *App) Progress() prompts.Transfer {
	if a.JSON {
		return NoTransfer{}
	}
	return a.UI.Transfer(a.watched())
}

// watched reports that a person watches stderr.
func (a *App) watched() bool { return !a.Strict() && a.Streams.ErrTTY }

// NoTransfer shows nothing.
type NoTransfer struct{}

// Update does nothing.
func (NoTransfer) Update(tui.Progress) {}

// Hide does nothing.
func (NoTransfer) Hide() {}

// Checklist returns what shows the steps of a command to a person; elsewhere only
// their transfers are mentioned.
func (a *App) Checklist(names ...string) prompts.Checklist {
	if !a.watched() {
		return transfers{a.Progress()}
	}
	return a.UI.Checklist(names...)
}

// transfers is a checklist that shows transfers alone.
type transfers struct{ prompts.Transfer }

func (t transfers) Start(int)  {}
func (t transfers) End(string) { t.Hide() }
