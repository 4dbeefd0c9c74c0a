package page

import "time"

// Device is the page on which a user compares the code of a terminal, and approves it.
type Device struct {
	Layout
	Code      string
	Refused   string // why the code or the choice was not accepted
	Client    string // what the terminal calls itself; "": the code was not looked up yet
	Address   string // where it is
	StartedAt time.Time
	Choices   Choices
	NoTokens  string // why the user cannot approve; "": nothing
	Done      string // what was decided: approve or deny
}

// Render returns the page.
func (d Device) Render() ([]byte, error) { return render("device", d) }
