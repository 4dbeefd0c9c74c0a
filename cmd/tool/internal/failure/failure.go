// Package failure holds the one type for what went wrong with a command, from the
// first line that fails to the exit code.
//
// It prints nothing and knows no exit code; package app does.
package failure

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Codes of failures that no hub reports. Package hubclient has more.
const (
	CodeNoToken          wire.Code = "no_token"
	CodeNotLoggedIn      wire.Code = "not_logged_in"
	CodeNotRecorded      wire.Code = "not_recorded"
	CodeNoConfig         wire.Code = "no_config"
	CodeNoSettings       wire.Code = "no_settings"
	CodeNoBaseFiles      wire.Code = "no_base_files"
	CodeWouldUndoEdits   wire.Code = "would_undo_edits"
	CodeConflict         wire.Code = "conflict"
	CodeInterrupted      wire.Code = "interrupted"
	CodeInvalidFile      wire.Code = "invalid_file"
	CodeNoDestination    wire.Code = "no_destination"
	CodeNoWorkspace      wire.Code = "no_workspace"
	CodeNoLocalProject   wire.Code = "no_local_project"
	CodeOutsideWorkspace wire.Code = "outside_workspace"
	CodeTokenInFile      wire.Code = "token_in_file"
	CodeNothingKept      wire.Code = "nothing_kept"
	CodeSomeFailed       wire.Code = "some_failed" // of several local projects
	CodeCheckFailed      wire.Code = "check_failed"
	CodeFilesDiffer      wire.Code = "files_differ"
	CodeFilesUnconfirmed wire.Code = "files_unconfirmed"
)

// Failure is why a command failed. It is a value: each method returns a changed copy.
type Failure struct {
	Code   wire.Code      // stable name for programs
	Action string         // what was tried, such as: push web to @acme/web
	Stage  string         // the step that failed
	Reason error          // one sentence without a full stop
	Hint   string         // what would help, in words
	Recipe []cmdline.Line // the exact command lines that would help
	Local  string         // local project, "": none
	Token  string         // the source of the token that the hub refused; "": it refused none
	Details
}

// Details are what a failure is about, as far as it is known.
type Details struct {
	Status    int                `json:"status,omitzero"`    // of the hub's response, 0: there was none
	RequestID string             `json:"requestId,omitzero"` // of the hub's response
	Fields    []wire.FieldError  `json:"errors,omitzero"`    // what the hub found in the body, if several things
	Project   ref.Ref            `json:"project,omitzero"`   // on the hub
	Origin    string             `json:"origin,omitzero"`    // of the hub
	Current   *wire.Edit         `json:"current,omitzero"`   // the last edit of the config that was not replaced
	Config    *flat.Difference   `json:"config,omitzero"`    // what the command would have changed
	Findings  []Finding          `json:"findings,omitzero"`  // what a check found
	Edits     []wire.ConfigEntry `json:"edits,omitzero"`     // edits by others that the command would have undone
	Conflicts flat.Conflicts     `json:"conflicts,omitzero"` // what was changed differently here and on the hub
	Effects   `json:",inline"`
}

// Document is a failure in JSON.
type Document struct {
	ProjectName string    `json:"projectName"`
	Reason      string    `json:"reason"`
	Stage       string    `json:"stage"`
	Code        wire.Code `json:"code"`
	Hint        string    `json:"hint,omitzero"`
	Recipe      []string  `json:"recipe,omitzero"`
	Details     `json:",inline"`
}

// Document returns f in JSON, with its recipe as text.
func (f Failure) Document(recipe []string) Document {
	return Document{
		ProjectName: f.Local,
		Reason:      f.Error(),
		Stage:       f.Stage,
		Code:        f.Code,
		Hint:        f.Hint,
		Recipe:      recipe,
		Details:     f.Details,
	}
}

// Finding is a problem in a file of the workspace.
type Finding struct {
	Severity Severity `json:"severity"`
	Project  string   `json:"projectName,omitzero"` // "": of the workspace
	File     string   `json:"file"`
	Line     int      `json:"line,omitzero"` // from 1; 0: not known
	Column   int      `json:"column,omitzero"`
	Detail   string   `json:"detail"`
}

// Severity says whether a finding is a failure.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// String returns the finding as compilers write theirs.
func (f Finding) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	if f.Severity == SeverityWarning {
		return at + ": warning: " + f.Detail
	}
	return at + ": " + f.Detail
}

// Effects are what was already applied when a command failed.
type Effects struct {
	ProjectCreated   bool `json:"projectCreated,omitzero"`
	ConfigWritten    bool `json:"configWritten,omitzero"`
	BaseFilesWritten bool `json:"baseFilesWritten,omitzero"`
	RemoteWritten    bool `json:"remoteWritten,omitzero"`
	SettingsChanged  bool `json:"settingsChanged,omitzero"` // in client.json, by a pull
}

// Texts says to a person what was applied.
func (e Effects) Texts() (texts []string) {
	for _, effect := range []struct {
		applied bool
		text    string
	}{
		{e.ProjectCreated, "the project is created"},
		{e.ConfigWritten, "the config is written"},
		{e.BaseFilesWritten, "the base files are written"},
		{e.RemoteWritten || e.SettingsChanged, "client.json is changed"},
	} {
		if effect.applied {
			texts = append(texts, effect.text)
		}
	}
	return texts
}

func (f Failure) Error() string { return f.Reason.Error() }

// Unwrap returns the reason.
func (f Failure) Unwrap() error { return f.Reason }

// New returns a failure with a code and a reason, formatted like [fmt.Errorf].
func New(code wire.Code, format string, args ...any) Failure {
	return Failure{Code: code, Reason: fmt.Errorf(format, args...)}
}

// Of returns err as a failure: the one that err wraps, with all of err's text as its
// reason, else one made from an error of hubclient, else one with the code internal.
func Of(err error) Failure {
	f, ok := errors.AsType[Failure](err)
	if !ok {
		return ofHub(err)
	}
	if err.Error() != f.Error() { // err says more
		f.Reason = err
	}
	return f
}

// ofHub makes a failure from an error of hubclient, and from any other error one
// with the code internal.
func ofHub(err error) Failure {
	e, ok := errors.AsType[*hubclient.Error](err)
	if !ok {
		return Failure{Code: wire.CodeInternal, Reason: err}
	}
	f := Failure{Code: e.Code, Reason: err, Hint: cmp.Or(e.Hint, hint(e))}
	f.Status, f.RequestID, f.Current = e.Status, e.RequestID, e.Current
	if len(e.Errors) > 1 {
		f.Fields = e.Errors
	}
	if len(e.Errors) == 1 { // the reason already contains it
		pointer := e.Errors[0].Pointer
		isTopLevel := strings.Count(pointer, "/") == 1
		if isTopLevel && strings.HasPrefix(err.Error(), pointer+": ") {
			f.Reason = withoutSlash{err}
		}
	}
	return f
}

// withoutSlash is an error that begins with the pointer to a member of the request, such as
// /slug. Its text leaves out the slash, because the flag has the name of the member.
type withoutSlash struct{ error }

func (e withoutSlash) Error() string { return strings.TrimPrefix(e.error.Error(), "/") }

func (e withoutSlash) Unwrap() error { return e.error }

// hint says which flag or variable helps against a failure to reach the hub.
func hint(e *hubclient.Error) string {
	switch e.Code {
	case hubclient.CodeInsecureOrigin:
		return "use https, or set TOOL_ALLOW_HTTP=1 where the network between is yours"
	case hubclient.CodeNotAHub:
		return "check the address given by --origin or TOOL_API_ORIGIN"
	case hubclient.CodeRedirected:
		return "if that is the hub's address, give its origin with --origin"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](e); ok {
		return "TOOL_CA_FILE names a file of certificates to trust besides the system's"
	}
	return ""
}

// At returns err as a failure of stage. A stage that is already set stays.
func At(stage string, err error) error {
	if err == nil {
		return nil
	}
	return Of(err).At(stage)
}

// Doing returns err as a failure of an action for a local project, "" for none.
func Doing(err error, local, format string, args ...any) error {
	if err == nil {
		return nil
	}
	f := Of(err)
	f.Action, f.Local = fmt.Sprintf(format, args...), local
	return f
}

// At returns f with a stage, unless it has one.
func (f Failure) At(stage string) Failure {
	if f.Stage == "" {
		f.Stage = stage
	}
	return f
}

// WithCode returns f with another code.
func (f Failure) WithCode(code wire.Code) Failure {
	f.Code = code
	return f
}

// WithReason returns f with another reason, formatted like [fmt.Errorf].
func (f Failure) WithReason(format string, args ...any) Failure {
	f.Reason = fmt.Errorf(format, args...)
	return f
}

// WithHint returns f with another hint.
func (f Failure) WithHint(format string, args ...any) Failure {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

// Try returns f with more command lines in its recipe.
func (f Failure) Try(lines ...cmdline.Line) Failure {
	f.Recipe = slices.Concat(f.Recipe, lines)
	return f
}

// WithRecipe returns f with these command lines as its recipe.
func (f Failure) WithRecipe(lines ...cmdline.Line) Failure {
	f.Recipe = lines
	return f
}

// About returns f with the hub project that it is about, and what was already applied to it.
func (f Failure) About(project ref.Ref, effects Effects) Failure {
	f.Project, f.Effects = project, effects
	return f
}

// Cause strips the operation and the path off an error of the file system, for a
// message that names them in its own words.
func Cause(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	if at, ok := errors.AsType[*os.LinkError](err); ok {
		return at.Err
	}
	return err
}
