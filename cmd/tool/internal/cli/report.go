package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui/escape"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitHangup      = 129
	exitInterrupted = 130
	exitTerminated  = 143
)

// schema is the version of the results' form. It rises only if a member is ever
// removed or changes its meaning.
const schema = 1

// print prints a result: as JSON, or as what text writes.
func (a *app) print(kind string, v any, text func(p *printer)) error {
	if a.json {
		return printFailed(kind, a.printJSON(kind, v))
	}
	p := &printer{w: a.Out, typed: a.typed, links: !a.strict() && a.Links(a.getenv)}
	text(p)
	return printFailed(kind, p.err)
}

// printError is a result that could not be written to stdout, which is where a failure
// in JSON would go too.
type printError struct{ error }

func (e *printError) Unwrap() error { return e.error }

// wentThrough says of the results of commands that write what was done.
var wentThrough = map[string]string{
	"created": "the project was created", "pushed": "the push went through", "pulled": "the pull went through",
	"removed": "the project is gone", "published": "the version is published", "initialized": "the files were written",
	"loggedIn": "the login was stored", "loggedOut": "the login was removed", "aborted": "nothing was changed",
}

func printFailed(kind string, err error) error {
	if err == nil {
		return nil
	}
	done := wentThrough[kind]
	if done != "" {
		done += ", but "
	}
	return &printError{fmt.Errorf("%sits result could not be written to stdout: %w", done, failure.Cause(err))}
}

func (a *app) printJSON(kind string, v any) error {
	head, err := wire.Encode(struct {
		Type    string `json:"type"`
		Schema  int    `json:"schema"`
		Command string `json:"command"`
	}{kind, schema, a.command})
	if err != nil {
		return err
	}
	members, err := wire.Encode(v)
	if err != nil {
		return err
	}
	document := string(head)
	if string(members) != "{}" {
		document = strings.TrimSuffix(document, "}") + "," + strings.TrimPrefix(string(members), "{")
	}
	_, err = fmt.Fprintln(a.Out, escapeControls(pat.Redact(document)))
	return err
}

// escapeControls writes the characters that a terminal acts on, but JSON allows
// as they are, as escapes. They stand within strings only.
func escapeControls(document string) string {
	if strings.IndexFunc(document, tree.Unprintable) < 0 {
		return document
	}
	var b strings.Builder
	for _, r := range document {
		if tree.Unprintable(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// printer writes lines of text, escaped and without tokens.
type printer struct {
	w     io.Writer
	typed flow.Typed
	links bool // addresses are shown as hyperlinks
	err   error
}

// line writes one line.
func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(escape.Line(fmt.Sprintf(format, args...)), " "))
	}
}

// field writes an indented line with a name and a value, in a column of its own.
func (p *printer) field(name, format string, args ...any) {
	p.line("  %-12s %s", name, fmt.Sprintf(format, args...))
}

// address writes a field with the address of a page, to be clicked where that is
// possible.
func (p *printer) address(name, address string) {
	address = escape.Line(address)
	if !p.links || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }) {
		p.field(name, "%s", address)
	} else if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, "  %-12s \x1b]8;;%s\x1b\\%s\x1b]8;;\x1b\\\n", name, address, address)
	}
}

// notes writes the notes of a result.
func (p *printer) notes(notes []string) {
	for _, note := range notes {
		p.line("  note: %s", note)
	}
}

// diagnose writes a line on stderr that is neither result nor failure.
func (a *app) diagnose(format string, args ...any) {
	(&printer{w: a.Err}).line(format, args...)
}

func (a *app) warn(text string) { a.diagnose("warning: %s", text) }

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
	ProjectCreated   bool              `json:"projectCreated,omitzero"`
	ConfigWritten    bool              `json:"configWritten,omitzero"`
	BaseFilesWritten bool              `json:"baseFilesWritten,omitzero"`
	RemoteWritten    bool              `json:"remoteWritten,omitzero"`
	SettingsChanged  bool              `json:"settingsChanged,omitzero"`
}

// exit reports what is left to report and returns the exit code.
func (a *app) exit(err error, ended syscall.Signal) int {
	var run *runError
	switch {
	case err == nil:
		return exitDone
	case !errors.As(err, &run):
		a.reportUsage(err)
		return exitUsage
	case flow.IsInterrupted(err) || ended != 0 || a.HungUp() && !signal.Ignored(syscall.SIGHUP): // whose signal may come later
		return a.reportInterrupt(err, ended)
	}
	a.reportFailure(err)
	return exitFailed
}

func (a *app) reportUsage(err error) {
	for _, line := range cmdline.UsageLines(err, strings.TrimSpace("tool "+a.command), a.typed) {
		a.diagnose("%s", line)
	}
}

func (a *app) reportInterrupt(err error, ended syscall.Signal) int {
	e := failure.Of(err)
	if e.Code = failure.CodeInterrupted; errors.Is(err, context.Canceled) {
		e.Reason = errors.New("interrupted")
	}
	if e.Hint == "" {
		e.Hint = happened(e.Effects, hubclient.Unsettled(err))
	}
	a.report(e)
	if ended == 0 && a.HungUp() {
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

// typed returns a command line as it is to be typed where this command was, so that
// it acts on the same workspace and the same hub.
func (a *app) typed(l cmdline.Line) string {
	l = l.In(a.dir)
	if origin := a.givenOrigin(); origin != "" && a.takesOrigin(l) && !l.Has("--origin") {
		l = l.Flag("--origin", origin)
	}
	return l.String()
}

func (a *app) typedLines(recipe []cmdline.Line) []string {
	var lines []string
	for _, l := range recipe {
		lines = append(lines, a.typed(l))
	}
	return lines
}

// givenOrigin returns the hub's address where the command line or the environment
// names it. Both can be others when a line is typed.
func (a *app) givenOrigin() string {
	if a.origin.given() {
		return a.origin.String()
	}
	return strings.TrimSpace(a.getenv(identity.OriginVariable))
}

// takesOrigin reports whether a command line has a flag for the hub's address.
func (a *app) takesOrigin(l cmdline.Line) bool {
	if l.Program != "tool" || a.commands == nil {
		return false
	}
	c, _, err := a.commands.Find(l.Words)
	return err == nil && c.Flags().Lookup("origin") != nil
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

func (a *app) reportFailure(err error) { a.report(failure.Of(err)) }

// stage is that of a failure which names none: the command.
func (a *app) stage() string { return a.command[strings.LastIndexByte(a.command, ' ')+1:] }

// report prints a failure: as JSON on stdout, or as text on stderr.
func (a *app) report(f failure.Failure) {
	f = f.At(a.stage())
	if f.Action == "" {
		f.Action = a.command
	}
	var unprinted *printError
	if a.json && !errors.As(f, &unprinted) {
		a.printJSON("failed", failed{
			ProjectName: f.Local, Reason: f.Error(), Stage: f.Stage, Code: f.Code, Hint: f.Hint, Recipe: a.typedLines(f.Recipe),
			Status: f.Status, RequestID: f.RequestID, Errors: f.Fields, Project: f.Project, Origin: f.Origin, Current: f.Current, Config: f.Config,
			ProjectCreated: f.Effects.ProjectCreated, ConfigWritten: f.Effects.ConfigWritten,
			BaseFilesWritten: f.Effects.BaseFilesWritten, RemoteWritten: f.Effects.RemoteWritten, SettingsChanged: f.Effects.SettingsChanged,
		})
		return
	}
	a.diagnose("error: %s: %s (stage %s)", f.Action, f.Error(), f.Stage)
	for _, field := range f.Fields {
		a.diagnose("  - %s", strings.TrimPrefix(field.Pointer+": "+field.Detail, ": "))
	}
	if f.Config != nil {
		for _, line := range differenceLines(*f.Config) {
			a.diagnose("  %s", line)
		}
	}
	if f.Hint != "" {
		a.diagnose("  hint: %s", f.Hint)
	}
	for _, line := range a.typedLines(f.Recipe) {
		a.diagnose("  try: %s", line)
	}
	if f.RequestID != "" {
		a.diagnose("  request: %s", f.RequestID)
	}
}
