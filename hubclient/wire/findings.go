package wire

// Severity says how serious a finding is.
type Severity string

// Severities.
const (
	SeverityError   Severity = "error"   // OpenAPI forbids it
	SeverityWarning Severity = "warning" // programs may read it differently
)

// Finding is something in an API description that its specification does not allow, or
// that not every program reads in the same way.
type Finding struct {
	Severity Severity `json:"severity"`
	Pointer  string   `json:"pointer"` // JSON pointer into the description
	Line     int      `json:"line"`    // from 1
	Detail   string   `json:"detail"`
}
