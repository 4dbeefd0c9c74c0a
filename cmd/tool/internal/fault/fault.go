// Package fault is the shape of a failure on its way to the person or program
// that typed the command: where it happened, why, and the next command to type.
//
// Whoever fails first fills in the reason, the code and the recipe; the flow
// adds the stage. The package prints nothing and knows no exit code.
package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Error is a failure of a command.
type Error struct {
	Stage  string         // the step that failed; empty until a flow has set it
	Code   wire.Code      // stable name for programs
	Err    error          // the reason, one sentence without a full stop
	Hint   string         // what would help, in words
	Recipe []cmdline.Line // the exact command lines that would

	Project ref.Ref // the hub's, where one is meant
	Origin  string  // of the hub, where one was known

	Status    int    // of the hub's answer, 0 when there was none
	RequestID string // of the hub's answer

	Current *wire.Edit       // who wrote the config that stands in the way
	Config  *flat.Difference // what the command would have changed

	Did Did
}

// Did is what had already happened when a command failed.
type Did struct {
	ProjectCreated   bool
	ConfigWritten    bool
	BaseFilesWritten bool
	RemoteWritten    bool
	SettingsChanged  bool // in client.json, by a pull
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// New returns a failure with a code and a reason in the manner of [fmt.Errorf].
func New(code wire.Code, format string, args ...any) *Error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// WithHint adds what would help and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Try adds command lines to the recipe and returns e.
func (e *Error) Try(lines ...cmdline.Line) *Error {
	e.Recipe = append(e.Recipe, lines...)
	return e
}

// At returns err as a failure of stage. A stage that is already set stays.
func At(stage string, err error) error {
	if err == nil {
		return nil
	}
	e := From(err)
	if e.Stage == "" {
		e.Stage = stage
	}
	return e
}

// From returns the failure that err holds, with all of err's text as its reason,
// or a new one without a better code.
func From(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		return &Error{Code: wire.CodeInternal, Err: err}
	}
	if err == error(e) {
		return e
	}
	wrapped := *e
	wrapped.Err = err
	return &wrapped
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
