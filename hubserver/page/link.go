package page

// OneTimeLink is the page of a link that works once, with the button that uses it.
type OneTimeLink struct {
	Layout
	Code     string
	Unusable string // why it cannot be used; "": it can
	Refused  string // why the form was not accepted

	SignIn string // whom the link signs in; "": it is an invitation
	To     string // the page that it opens

	Org, Role, By string // of an invitation
	Name          string // that was typed for a new account
}

// Render returns the page.
func (l OneTimeLink) Render() ([]byte, error) { return render("link", l) }
