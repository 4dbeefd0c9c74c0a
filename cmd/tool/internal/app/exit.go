package app

import (
	"context"
	"errors"
	"os/signal"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDiffers     = 3
	exitHangup      = 129
	exitInterrupted = 130
	exitTerminated  = 143
)

// ErrDiffers ends a command whose --exit-code was given with exit code 3. Nothing is
// reported: the result is printed.
var ErrDiffers = errors.New("what is compared differs")

// failed is the result of a command that failed.
type failed struct {
	ProjectName      string            `json:"projectName"`
	Reason           string            `json:"reason"`
	Stage            string            `json:"stage"`
	Code             wire.Code         `json:"code"`
	Hint             string            `json:"hint,omitzero"`
	Recipe           []string          `json:"recipe,omitzero"`
	Status           int               `json:"status,omitzero"`
	RequestID        string            `json:"requestId,omitzero"`
	Errors           []wire.FieldError `json:"errors,omitzero"`
	Project          ref.Ref           `json:"project,omitzero"`
	Origin           string            `json:"origin,omitzero"`
	Current          *wire.Edit        `json:"current,omitzero"`
	Config           *flat.Difference  `json:"config,omitzero"`
	Findings         []failure.Finding `json:"findings,omitzero"`
	Edits            []failure.Edit    `json:"edits,omitzero"`
	Conflicts        flat.Conflicts    `json:"conflicts,omitzero"`
	ProjectCreated   bool              `json:"projectCreated,omitzero"`
	ConfigWritten    bool              `json:"configWritten,omitzero"`
	BaseFilesWritten bool              `json:"baseFilesWritten,omitzero"`
	RemoteWritten    bool              `json:"remoteWritten,omitzero"`
	SettingsChanged  bool              `json:"settingsChanged,omitzero"`
	Results          []jsontext.Value  `json:"results,omitzero"`
}

// exit reports what is left to report and returns the exit code.
func (a *App) exit(err error, ended syscall.Signal) int {
	a.releaseWarnings()
	var run *runError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, ErrDiffers):
		return exitDiffers
	case !errors.As(err, &run):
		a.reportUsage(err)
		return exitUsage
	case IsInterrupted(err) || ended != 0 || a.Streams.HungUp() && !signal.Ignored(syscall.SIGHUP): // whose signal may come later
		return a.reportInterrupt(err, ended)
	}
	a.ReportFailure(err)
	return exitFailed
}

func (a *App) reportUsage(err error) {
	for _, line := range cmdline.UsageLines(err, strings.TrimSpace("tool "+a.Command), a.CommandText) {
		a.Diagnose("%s", line)
	}
}

func (a *App) reportInterrupt(err error, ended syscall.Signal) int {
	e := failure.Of(err)
	if e.Code = failure.CodeInterrupted; errors.Is(err, context.Canceled) {
		e.Reason = errors.New("interrupted")
	}
	if e.Hint == "" {
		e.Hint = happened(e.Effects, hubclient.Unsettled(err))
	}
	a.report(e)
	if ended == 0 && a.Streams.HungUp() {
		ended = syscall.SIGHUP // the end of the input came first
	}
	switch ended {
	case syscall.SIGTERM:
		return exitTerminated
	case syscall.SIGHUP:
		return exitHangup
	}
	return exitInterrupted
}

// happened says what a command had done when it was interrupted.
func happened(effects failure.Effects, unsettled bool) string {
	var done []string
	for _, d := range []struct {
		did  bool
		what string
	}{
		{effects.ProjectCreated, "the project is created"}, {effects.ConfigWritten, "the config is written"},
		{effects.BaseFilesWritten, "the base files are written"}, {effects.RemoteWritten || effects.SettingsChanged, "client.json is changed"},
	} {
		if d.did {
			done = append(done, d.what)
		}
	}
	if unsettled {
		done = append(done, "what was being sent may have been applied")
	}
	if len(done) == 0 {
		return "nothing was changed"
	}
	return strings.Join(done, ", ")
}

// ReportFailure prints a failure that ends nothing.
func (a *App) ReportFailure(err error) { a.report(failure.Of(err)) }

// Stage is that of a failure which names none: the command.
func (a *App) Stage() string { return a.Command[strings.LastIndexByte(a.Command, ' ')+1:] }

// report prints a failure: as JSON on stdout, or as text on stderr.
func (a *App) report(f failure.Failure) {
	f = f.At(a.Stage())
	if f.Action == "" {
		f.Action = a.Command
	}
	a.annotate(f)
	var unprinted *printError
	if a.JSON && !errors.As(f, &unprinted) {
		_ = a.printJSON("failed", failed{
			ProjectName: f.Local, Reason: f.Error(), Stage: f.Stage, Code: f.Code, Hint: f.Hint, Recipe: a.CommandTexts(f.Recipe),
			Status: f.Status, RequestID: f.RequestID, Errors: f.Fields, Project: f.Project, Origin: f.Origin, Current: f.Current, Config: f.Config, Findings: f.Findings, Edits: f.Edits, Conflicts: f.Conflicts,
			ProjectCreated: f.Effects.ProjectCreated, ConfigWritten: f.Effects.ConfigWritten,
			BaseFilesWritten: f.Effects.BaseFilesWritten, RemoteWritten: f.Effects.RemoteWritten, SettingsChanged: f.Effects.SettingsChanged,
			Results: a.results(),
		})
		return
	}
	a.Diagnose("error: %s: %s (stage %s)", f.Action, f.Error(), f.Stage)
	var lines []string
	for _, field := range f.Fields {
		lines = append(lines, "- "+strings.TrimPrefix(field.Pointer+": "+field.Detail, ": "))
	}
	for _, finding := range f.Findings {
		lines = append(lines, finding.String())
	}
	for _, line := range Shortened(append(lines, editLines(f.Edits)...)) {
		a.Diagnose("%s", line)
	}
	if f.Config != nil {
		for _, line := range DifferenceLines(*f.Config) {
			a.Diagnose("  %s", line)
		}
	}
	for _, line := range ConflictLines(f.Conflicts) {
		a.Diagnose("  %s", line)
	}
	if f.Hint != "" {
		a.Diagnose("  hint: %s", f.Hint)
	}
	for _, line := range a.CommandTexts(f.Recipe) {
		a.PrinterTo(a.Streams.Err).Whole("  try: " + line)
	}
	if f.RequestID != "" {
		a.Diagnose("  request: %s", f.RequestID)
	}
}

// results returns the documents of several projects that were collected, in the failure
// that ends the command.
func (a *App) results() []jsontext.Value {
	if a.collects {
		return nil
	}
	return a.collected
}

// CommandText returns a command line as it is to be typed where this command was, so that
// it acts on the same workspace, environment and hub.
func (a *App) CommandText(l cmdline.Line) string {
	l = l.In(a.Dir)
	inEnv := a.env != "" && a.lineTakes(l, &a.Env)
	if inEnv && !l.Has("--env") {
		l = l.Flag("--env", a.env)
	}
	origin := a.givenOrigin()
	if a.envOrigin != "" {
		origin = a.envOrigin
	}
	if origin != "" && !(inEnv && a.envOrigin != "") && a.lineTakes(l, &a.Origin) && !l.Has("--origin") {
		l = l.Flag("--origin", origin)
	}
	return l.String()
}

// CommandTexts returns command lines as CommandText does.
func (a *App) CommandTexts(recipe []cmdline.Line) []string {
	var lines []string
	for _, l := range recipe {
		lines = append(lines, a.CommandText(l))
	}
	return lines
}

// givenOrigin returns the hub's address where the command line or the environment
// names it. Both can be others when a line is typed. What is no origin, "" then, may have
// a password in it.
func (a *App) givenOrigin() string {
	given := strings.TrimSpace(a.Getenv(identity.OriginVariable))
	if a.Origin.Given() {
		given = a.Origin.String()
	}
	if _, err := hubclient.ParseOrigin(given); err != nil {
		return ""
	}
	return given
}

// lineTakes reports whether a command line has the flag of every command that sets value.
func (a *App) lineTakes(l cmdline.Line, value *Optional) bool {
	if l.Program != "tool" || a.commands == nil {
		return false
	}
	c, _, err := a.commands.Find(l.Words)
	return err == nil && a.takes(c, value)
}
