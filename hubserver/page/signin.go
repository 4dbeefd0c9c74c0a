package page

import (
	"strings"

	"example.com/projecthub/hubclient/ref"
)

// SignIn is the page that asks for a token.
type SignIn struct {
	Layout
	To      string // the path to return to
	Refused string // why the last token was refused
	Open    bool   // others on the network can read the token
}

// Command returns the command that signs a browser in. It opens the project to which the
// page returns; without one, that of the directory in which it runs.
func (s SignIn) Command() string {
	path, _, _ := strings.Cut(strings.TrimPrefix(s.To, "/"), "?")
	parts := strings.Split(path, "/")
	if len(parts) >= 2 {
		if r, err := ref.Parse(parts[0] + "/" + parts[1]); err == nil {
			return "tool project view " + r.String() + " --web"
		}
	}
	return "tool project view --web"
}

// Render returns the page.
func (s SignIn) Render() ([]byte, error) { return render("sign-in", s) }
