package apisource

import (
	"fmt"

	"example.com/projecthub/hubclient/wire"
)

// maxFindings is how many findings a hub lists.
const maxFindings = 100

// FindingsNotes summarizes what the hub found in an API description, in one note.
func FindingsNotes(findings []wire.Finding) []string {
	if len(findings) == 0 {
		return nil
	}
	many := fmt.Sprintf("%d problems; the first", len(findings))
	switch {
	case len(findings) == 1:
		many = "a problem"
	case len(findings) >= maxFindings:
		many = fmt.Sprintf("%d or more problems; the first", maxFindings)
	}
	return []string{fmt.Sprintf("the API description has %s: %s", many, FindingText(findings[0]))}
}

// FindingText returns a finding as a line of text.
func FindingText(f wire.Finding) string {
	place := fmt.Sprintf("line %d", f.Line)
	if f.Pointer != "" {
		place += ", " + f.Pointer
	}
	if f.Severity == wire.SeverityWarning {
		place = "warning: " + place
	}
	return place + ": " + f.Detail
}
