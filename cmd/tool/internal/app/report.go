package app

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// failed is the result of a command that failed.
type failed struct {
	failure.Document `json:",inline"`

	// Results are the documents of several projects, in the failure that ends the command.
	Results []jsontext.Value `json:"results,omitzero"`
}

// ReportFailure prints a failure: as JSON on stdout, or as text on stderr.
func (a *App) ReportFailure(err error) { a.report(failure.Of(err)) }

// reportInterrupt prints that a command was interrupted, and what it had done.
func (a *App) reportInterrupt(err error) {
	f := failure.Of(err)
	f.Code = failure.CodeInterrupted
	if IsInterrupted(err) {
		f.Reason = errors.New("interrupted")
	}
	if f.Hint == "" {
		effects := f.Effects.Texts()
		if hubclient.Unsettled(err) {
			effects = append(effects, "what was being sent may have been applied")
		}
		f.Hint = cmp.Or(strings.Join(effects, ", "), "nothing was changed")
	}
	a.report(f)
}

// Stage returns the stage of a failure that names none: the last word of the command.
func (a *App) Stage() string { return a.Command[strings.LastIndexByte(a.Command, ' ')+1:] }

// report prints a failure. A result that could not be written to stdout is reported as text
// even with --json, because stdout is where the document would go. With --jq, which selects from
// results, stdout would not show what failed.
func (a *App) report(f failure.Failure) {
	f = f.At(a.Stage())
	f.Action = cmp.Or(f.Action, a.Command)
	a.annotate(f)
	recipe := a.CommandTexts(f.Recipe)
	_, stdoutFailed := errors.AsType[*printError](f)
	if a.JSON && a.jq == nil && !stdoutFailed {
		document := failed{Document: f.Document(recipe)}
		if !a.collecting { // it ends the command
			document.Results = a.collected
		}
		_ = a.writeJSON("failed", document, pat.Redact)
		return
	}
	a.diagnose(tui.Warned, "error: %s: %s (stage %s)", f.Action, tui.Shorten(f.Error(), maxField), f.Stage)
	for _, line := range detailLines(f) {
		a.Diagnose("%s", line)
	}
	for _, line := range recipe {
		a.PrinterTo(a.Streams.Err).Whole("  try: %s", line)
	}
	if f.RequestID != "" {
		a.Diagnose("  request: %s", f.RequestID)
	}
}

// detailLines returns what a person reads between the reason of a failure and its recipe.
func detailLines(f failure.Failure) (lines []string) {
	for _, field := range f.Fields {
		lines = append(lines, "- "+strings.TrimPrefix(field.Pointer+": "+field.Detail, ": "))
	}
	for _, finding := range f.Findings {
		lines = append(lines, finding.String())
	}
	for _, e := range f.Edits {
		lines = append(lines, fmt.Sprintf("edit: %s through %s %s: %s",
			Cell(e.UpdatedBy), e.UpdatedVia.Phrase(), Ago(e.UpdatedAt), KeysText(e, 8)))
	}
	lines = Shortened(lines)
	if f.Config != nil {
		for _, line := range DifferenceLines(*f.Config) {
			lines = append(lines, "  "+line)
		}
	}
	for _, line := range ConflictLines(f.Conflicts) {
		lines = append(lines, "  "+line)
	}
	if f.Hint != "" {
		lines = append(lines, "  hint: "+f.Hint)
	}
	return lines
}

// KeysText names at most so many of the keys, or files, that an edit changed, and says how many more there are.
func KeysText(e wire.ConfigEntry, most int) string {
	var named []string
	for _, change := range []struct {
		sign string
		keys []string
	}{
		{"+", e.Keys.Added},
		{"~", e.Keys.Changed},
		{"-", e.Keys.Removed},
	} {
		for _, key := range change.keys {
			named = append(named, change.sign+" "+tui.Shorten(key, MaxValue))
		}
	}
	if len(named) == 0 {
		return tui.Changes(e.Added, e.Changed, e.Removed)
	}
	return cmdline.Shortlist(named, most, e.Added+e.Changed+e.Removed)
}

// What a workflow command of GitHub would read as its own.
var (
	annotationText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	annotationProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// annotate writes a failure as annotations of a workflow run, on stderr, where GitHub
// Actions runs the program: one for each finding, else one for the failure.
func (a *App) annotate(f failure.Failure) {
	if a.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	all := f.Findings
	if len(all) == 0 {
		whole := failure.Finding{Severity: failure.SeverityError, Detail: f.Action + ": " + f.Error()}
		if blamed, ok := errors.AsType[*workspace.Blamed](f); ok {
			whole.File, whole.Line, whole.Column = blamed.At.File, blamed.At.Line, blamed.At.Column
		}
		all = []failure.Finding{whole}
	}
	for _, found := range all {
		level, properties := "error", ""
		if found.Severity != failure.SeverityError {
			level = "warning"
		}
		if found.File != "" {
			properties = " file=" + annotationProperty.Replace(escape.Line(a.inCheckout(found.File)))
			if found.Line > 0 {
				properties += fmt.Sprintf(",line=%d,col=%d", found.Line, found.Column)
			}
		}
		text := annotationText.Replace(escape.Line(found.Detail))
		fmt.Fprintf(a.Streams.Err, "::%s%s::%s\n", level, properties, text)
	}
}

// inCheckout returns a path of the workspace relative to the repository that GitHub Actions
// has checked out, or path itself outside of that.
func (a *App) inCheckout(path string) string {
	root := a.Getenv("GITHUB_WORKSPACE")
	if ws, err := a.Workspace(); err == nil && root != "" {
		if r, err := filepath.Rel(root, ws.Path(path)); err == nil && filepath.IsLocal(r) {
			return filepath.ToSlash(r)
		}
	}
	return path
}

// CommandText returns a command line as it is to be typed where this command was, so that
// it acts on the same workspace, environment and hub. The line names the hub if --origin or
// the variable did, because a line may be typed in a shell that does not have the variable.
func (a *App) CommandText(l cmdline.Line) string {
	l = l.In(a.Dir)
	namesEnv := a.env.name != "" && a.lineTakes(l, &a.Env)
	if namesEnv && !l.Has("--env") {
		l = l.Flag("--env", a.env.name)
	}
	if namesEnv && a.env.origin != "" { // --env already leads to this hub
		return l.String()
	}
	// The environment's hub comes before the variable's, as in [identity.Resolve]. If --origin
	// was given too, useOrigin has refused any other hub.
	origin := cmp.Or(a.env.origin, a.givenOrigin())
	if origin != "" && a.lineTakes(l, &a.Origin) && !l.Has("--origin") {
		l = l.Flag("--origin", origin)
	}
	return l.String()
}

// givenOrigin returns the origin from --origin, else from the variable, as printed in suggested
// commands. A value that does not parse is left out: it may contain a password.
func (a *App) givenOrigin() string {
	origin := cmp.Or(a.Origin.String(), strings.TrimSpace(a.Getenv(identity.OriginVariable)))
	if _, err := hubclient.ParseOrigin(origin); err != nil {
		return ""
	}
	return origin
}

// CommandTexts returns command lines as CommandText does.
func (a *App) CommandTexts(recipe []cmdline.Line) (lines []string) {
	for _, l := range recipe {
		lines = append(lines, a.CommandText(l))
	}
	return lines
}

// lineTakes reports whether the command of l has the flag that sets value.
func (a *App) lineTakes(l cmdline.Line, value *Optional) bool {
	if l.Program != "tool" || a.commands == nil {
		return false
	}
	c, _, err := a.commands.Find(l.Words)
	return err == nil && a.takes(c, value)
}
