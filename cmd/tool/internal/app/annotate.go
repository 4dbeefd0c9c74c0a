package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/tui/escape"
)

// annotate writes a failure as annotations of a workflow run, on stderr, where GitHub
// Actions runs the program: one for each finding, else one for the failure.
func (a *App) annotate(f failure.Failure) {
	if a.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	for _, found := range f.Findings {
		level := "error"
		if found.Severity != failure.SeverityError {
			level = "warning"
		}
		a.annotation(level, workspace.Position{File: found.File, Line: found.Line, Column: found.Column}, found.Detail)
	}
	if len(f.Findings) > 0 {
		return
	}
	var at workspace.Position
	var blamed *workspace.Blamed
	if errors.As(f, &blamed) {
		at = blamed.At
	}
	a.annotation("error", at, f.Action+": "+f.Error())
}

// annotation writes one annotation.
func (a *App) annotation(level string, at workspace.Position, message string) {
	properties := ""
	if at.File != "" {
		properties = " file=" + annotationProperty(a.inCheckout(at.File))
		if at.Line > 0 {
			properties += ",line=" + strconv.Itoa(at.Line) + ",col=" + strconv.Itoa(at.Column)
		}
	}
	fmt.Fprintf(a.Streams.Err, "::%s%s::%s\n", level, properties, annotationData(escape.Line(pat.Redact(message))))
}

// inCheckout returns a path of the workspace as it is called in the repository.
func (a *App) inCheckout(path string) string {
	ws, err := a.Workspace()
	if err != nil {
		return path
	}
	if root := a.Getenv("GITHUB_WORKSPACE"); root != "" {
		if r, err := filepath.Rel(root, ws.Path(path)); err == nil && filepath.IsLocal(r) {
			return filepath.ToSlash(r)
		}
	}
	return path
}

// annotationData escapes a message of a workflow command.
func annotationData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// annotationProperty escapes the value of a property of a workflow command.
func annotationProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(annotationData(escape.Line(s)))
}
