package description

import (
	"cmp"
	"fmt"
	"slices"

	"example.com/projecthub/hubclient/wire"
)

// MaxFindings is how many findings a [Description] has at most.
const MaxFindings = 100

// check is something that is checked in a description that can be read. Its severity says
// what a violation is: an error is what OpenAPI forbids; a warning is what it leaves open,
// or what other programs may not read in the same way.
type check struct {
	severity wire.Severity
	format   string
}

// The checks. What is not here is either accepted without a finding, or rejected: see [Parse].
var (
	// Versions.
	newerVersion     = check{wire.SeverityWarning, "OpenAPI %s is newer than 3.2: it is read as 3.2"}
	malformedVersion = check{wire.SeverityError, "%s is not a version of OpenAPI: it is read as %s"}
	versionType      = check{wire.SeverityError, "%s must be a string, not %s"}
	twoVersions      = check{wire.SeverityError, "it has both swagger and openapi: it is read as OpenAPI %s"}

	// Members and their types.
	missing        = check{wire.SeverityError, "%s is missing"}
	emptyText      = check{wire.SeverityWarning, "%s is empty"}
	wrongType      = check{wire.SeverityError, "%s must be %s, not %s"}
	nullMember     = check{wire.SeverityWarning, "%s is null: it is read as absent"}
	unknownMember  = check{wire.SeverityError, "unknown member %s"}
	laterMember    = check{wire.SeverityError, "%s is not in OpenAPI %s, only since %s"}
	formerMember   = check{wire.SeverityError, "%s is no longer in OpenAPI %s"}
	exclusive      = check{wire.SeverityError, "%s and %s exclude each other"}
	unknownValue   = check{wire.SeverityError, "unknown %s %s"}
	severalTypes   = check{wire.SeverityError, "an array of types is for OpenAPI 3.1 and later; in 3.0, type is one string"}
	arrayNoItems   = check{wire.SeverityError, "an array needs items"}
	readAndWrite   = check{wire.SeverityError, "readOnly and writeOnly exclude each other"}
	componentName  = check{wire.SeverityError, "the name %s must consist of letters, digits, '.', '_' and '-'"}
	oneOfMembers   = check{wire.SeverityError, "%s needs %s"}
	contentOne     = check{wire.SeverityError, "the content of a parameter or header has exactly one media type"}
	variableValues = check{wire.SeverityError, "the default of a server variable must be in its enum"}
	noVariable     = check{wire.SeverityWarning, "the URL's variable %s is not in variables"}

	// References.
	refType       = check{wire.SeverityError, "$ref must be a string, not %s"}
	refNotAllowed = check{wire.SeverityError, "a reference is not allowed here"}
	refForm       = check{wire.SeverityError, "%s is not of the form #/…"}
	refMissing    = check{wire.SeverityError, "%s does not exist"}
	refKind       = check{wire.SeverityError, "%s refers to %s, but %s is needed"}
	refCircle     = check{wire.SeverityError, "%s refers to itself, or to more than %d references in a row"}
	refOutside    = check{wire.SeverityWarning, "%s refers to another document, which the hub does not read: include it in the description"}

	// Paths and operations.
	pathSlash        = check{wire.SeverityError, "a path starts with /"}
	pathTwice        = check{wire.SeverityError, "the path is the same as %s, except for the names of its parameters"}
	pathParameters   = check{wire.SeverityError, "undeclared or unused path parameters: %s"}
	pathRequired     = check{wire.SeverityError, "a path parameter needs required: true"}
	parameterTwice   = check{wire.SeverityError, "the parameter %s in %s is given twice"}
	twoBodies        = check{wire.SeverityError, "an operation has either one body parameter or form parameters"}
	noResponse       = check{wire.SeverityError, "at least one response is needed"}
	responseStatus   = check{wire.SeverityError, "%s is not a status such as 200, 2XX or default"}
	operationIDTwice = check{wire.SeverityError, "the operation id %s is also that of line %d"}
	tagTwice         = check{wire.SeverityError, "the tag %s is given twice"}
	unknownScheme    = check{wire.SeverityError, "unknown security scheme %s"}
)

// findings collects what is wrong, up to a limit for each severity.
type findings struct {
	errors, warnings []wire.Finding
}

func (f *findings) list(s wire.Severity) *[]wire.Finding {
	if s == wire.SeverityError {
		return &f.errors
	}
	return &f.warnings
}

// full reports whether no finding of a check is needed anymore.
func (f *findings) full(c check) bool { return len(*f.list(c.severity)) >= MaxFindings }

func (f *findings) add(n *node, c check, args ...any) {
	if list := f.list(c.severity); len(*list) < MaxFindings {
		*list = append(*list, wire.Finding{
			Severity: c.severity, Pointer: n.shortPointer(), Line: int(n.line), Detail: fmt.Sprintf(c.format, args...),
		})
	}
}

// all returns the findings, errors first, each by line.
func (f *findings) all() []wire.Finding {
	byLine := func(a, b wire.Finding) int { return cmp.Compare(a.Line, b.Line) }
	slices.SortStableFunc(f.errors, byLine)
	slices.SortStableFunc(f.warnings, byLine)
	all := slices.Concat(f.errors, f.warnings)
	return all[:min(len(all), MaxFindings)]
}
