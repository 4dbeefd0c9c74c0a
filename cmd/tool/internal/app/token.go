package app

import "fmt"

// NewToken is the part of a result that has the one whole token: the one that was just
// created. In text [Printer.Secret] writes it alone on stdout, and the notes go to stderr.
type NewToken struct {
	Noted `json:",inline"`
}

// ShownOnce returns the part of a result with a token that was just created.
func ShownOnce() (n NewToken) {
	n.Note("this token is shown once; the hub keeps only its hash")
	return n
}

// Effect says that the token is valid.
func (*NewToken) Effect() string { return "the token was created" }

func (*NewToken) secret() {}

// Secret writes a whole token.
func (p *Printer) Secret(token string) { _, p.err = fmt.Fprintln(p.w, token) }
