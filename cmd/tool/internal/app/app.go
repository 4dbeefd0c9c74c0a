// Package app holds what every command receives: streams, settings of the command line
// and the environment, the identity, the local project, and the printer, which alone
// knows quoting, exit codes, and the text and JSON forms of results and failures.
//
// It knows no command. What is asked is behind [prompts.UI].
package app

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/itchyny/gojq"
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// App is what every command works with.
type App struct {
	Streams   term.Streams
	LookupEnv func(string) (string, bool)
	UI        prompts.UI
	Cache     string // cache directory; "": the user's

	// Flags of every command.
	JSON, NoInput, Verbose bool
	Dir                    string
	Timeout                time.Duration

	// Flags of the commands that call the hub.
	Token, Origin Optional

	Env Optional // the flag --env, as typed; env is the environment in use

	jq *gojq.Code // from the flag --jq; nil: the whole document is printed

	Command string // the running one, without the program's name
	running *cobra.Command

	// Merge merges the config of a hub project into the settings of a local one, as pull does, for the
	// question of a push: no command imports another. Its error is ErrDeclined if a person leaves it.
	Merge func(ctx context.Context, a *App, local *workspace.Project, project Optional) error

	theme    func() *tui.Theme     // of stdout, and of stderr where that is a terminal, too; nil: plain
	commands *cobra.Command        // all of them
	ended    func() syscall.Signal // see EndedBy
	output
	session
}

// output is what was not printed yet.
type output struct {
	// collecting is true while [Several.Run] runs a command with --json for several projects:
	// their documents are added to collected, not printed. The document that ends the command,
	// a result or a failure, contains them.
	collecting bool
	collected  []jsontext.Value

	shown Result // by [App.Show], last; nil: none

	heldMutex sync.Mutex // guards held: several requests may warn at once
	held      []string   // warnings to print after the view that is on the terminal
}

// session is what is known of the workspace and the hub in use.
type session struct {
	logins *identity.Logins
	id     *identity.Identity
	hub    *string // origin of the workspace's hub; nil: not read yet, "": it has none

	env environment // readEnv sets its name, useOrigin its hub

	expiring atomic.Pointer[expiring] // nil: no token that was used expires soon
	newer    atomic.Pointer[newerHub] // nil: no hub that answered is of a later release than this program

	warnedOfOwner bool   // root was warned that another user owns the workspace
	warnedHub     string // the last hub that was warned of, because it is not the workspace's
	agreedHub     string // the last hub that a person agreed to although it is not the workspace's
}

// New returns the App of one command line.
func New(lookupEnv func(string) (string, bool), streams term.Streams) *App {
	a := &App{
		Streams:   streams,
		LookupEnv: lookupEnv,
		ended:     func() syscall.Signal { return 0 },
	}
	ui := &prompts.Terminal{
		In:      streams.In,
		Out:     streams.Out,
		Err:     streams.Err,
		Size:    streams.Size,
		IsPlain: a.Getenv("TERM") == "dumb" || a.Getenv("ACCESSIBLE") == "1",
		Say:     func(line string) { a.Diagnose("%s", line) },
		Status:  a.StatusLine,
	}
	a.UI = ui
	if !ui.IsPlain {
		a.theme = sync.OnceValue(func() *tui.Theme { return tui.NewTheme(streams.Out) })
	}
	a.Streams.Out = ui.Above(streams.Out)
	a.Streams.Err = ui.Above(streams.Err)
	return a
}

// Getenv returns an environment variable, "" for none.
func (a *App) Getenv(name string) string {
	value, _ := a.LookupEnv(name)
	return value
}

// Strict reports that nothing may be asked and nothing redrawn. Where the variable CI is set,
// no person is present, even if stdin is a terminal.
func (a *App) Strict() bool {
	ci := strings.ToLower(a.Getenv("CI"))
	inCI := ci != "" && ci != "0" && ci != "false"
	return a.JSON || a.NoInput || !a.Streams.Interactive() || inCI
}

// EndedBy returns the signal that ended the command, 0 for none so far.
func (a *App) EndedBy() syscall.Signal { return a.ended() }

// watched reports that a person watches stderr.
func (a *App) watched() bool { return !a.Strict() && a.Streams.ErrTTY }

// Progress returns what shows a transfer: a redrawn line on a terminal, a plain line
// now and then elsewhere, nothing with --json.
func (a *App) Progress() prompts.Transfer {
	if a.JSON {
		return NoTransfer{}
	}
	return a.UI.Transfer(a.watched())
}

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

func (a *App) configDir() (string, error) { return a.directory("TOOL_CONFIG_DIR", os.UserConfigDir) }

// directory returns the directory that variable names, else tool below the one that users returns.
func (a *App) directory(variable string, users func() (string, error)) (string, error) {
	if dir := a.Getenv(variable); dir != "" {
		return dir, nil
	}
	dir, err := users()
	if err != nil {
		return "", failure.New(failure.CodeInvalidFile, "no directory for the program's own files: %w", err).
			WithHint("set %s", variable)
	}
	return filepath.Join(dir, "tool"), nil
}

// CacheDir returns the directory of a cache with this name, "" if there is none.
func (a *App) CacheDir(name string) string {
	if a.Cache != "" {
		return filepath.Join(a.Cache, name)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tool", name)
}

// SyncState returns the cache of what was last pushed or pulled.
func (a *App) SyncState() state.Sync { return state.Sync(a.CacheDir("revisions")) }

// State returns the state directory, for what must not be lost, such as what pulls replaced. If there
// is none, saving fails and says so.
func (a *App) State() state.Dir {
	dir, _ := a.directory("TOOL_STATE_DIR", func() (string, error) {
		if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
			return dir, nil
		}
		switch runtime.GOOS {
		case "windows", "darwin", "ios":
			return os.UserConfigDir()
		}
		home, err := os.UserHomeDir()
		return filepath.Join(home, ".local", "state"), err
	})
	return state.Dir(dir)
}
