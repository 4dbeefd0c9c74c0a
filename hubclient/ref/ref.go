// Package ref parses the names that people and programs give to things on a
// hub: an account, a slug, and the two together as @account/slug.
//
// A Ref is valid by construction, so code that holds one never checks it again.
// The package knows nothing of what a ref points at, nor of any hub.
package ref

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Rule says in words what a valid account or slug looks like.
const Rule = "1 to 64 characters of a-z, 0-9 and -; it cannot start or end with -"

const maxName = 64

// ValidName reports whether s can be an account or a slug.
func ValidName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
			return false
		}
	}
	return s != "" && len(s) <= maxName && s[0] != '-' && s[len(s)-1] != '-'
}

// Ref names a project, an API, a stack or a bot as @account/slug.
// The zero Ref names nothing.
type Ref struct{ account, slug string }

// New returns the ref of slug within account. The error says which part breaks the rule.
func New(account, slug string) (Ref, error) {
	if !ValidName(account) {
		return Ref{}, fmt.Errorf("%q is not an account: an account is %s", account, Rule)
	}
	if !ValidName(slug) {
		return Ref{}, fmt.Errorf("%q is not a slug: a slug is %s", slug, Rule)
	}
	return Ref{account, slug}, nil
}

// Parse reads the written form @account/slug.
func Parse(s string) (Ref, error) {
	account, slug, found := strings.Cut(strings.TrimPrefix(s, "@"), "/")
	if !strings.HasPrefix(s, "@") || !found {
		return Ref{}, fmt.Errorf("%q is not of the form @account/slug", s)
	}
	return New(account, slug)
}

// ParseTyped reads a ref as people type it: @account/slug, or without the @.
func ParseTyped(s string) (Ref, error) {
	if strings.Contains(s, "/") && !strings.HasPrefix(s, "@") {
		s = "@" + s
	}
	return Parse(s)
}

// ParsePath reads the form account/slug, which results and requests use for stacks.
func ParsePath(s string) (Ref, error) {
	account, slug, found := strings.Cut(s, "/")
	if !found {
		return Ref{}, fmt.Errorf("%q is not of the form account/slug", s)
	}
	return New(account, slug)
}

// Account is the part between @ and /.
func (r Ref) Account() string { return r.account }

// Slug is the part after the /.
func (r Ref) Slug() string { return r.slug }

// IsZero reports whether r names nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// String returns @account/slug, or "" for the zero Ref.
func (r Ref) String() string {
	if r.IsZero() {
		return ""
	}
	return "@" + r.Path()
}

// Path returns account/slug, the form used in addresses and in results' stack.
func (r Ref) Path() string { return r.account + "/" + r.slug }

type parts struct {
	Account string `json:"account"`
	Slug    string `json:"slug"`
}

// MarshalJSON writes {"account": …, "slug": …}.
func (r Ref) MarshalJSON() ([]byte, error) {
	return json.Marshal(parts{r.account, r.slug})
}

// UnmarshalJSONFrom reads {"account": …, "slug": …} and refuses parts that break the
// rule. Whether other members are refused is for the decoder's options to say: a hub
// refuses them in a request, and a client ignores those of a newer hub.
func (r *Ref) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var p *parts
	if err := json.UnmarshalDecode(dec, &p); err != nil {
		return err
	}
	if p == nil {
		return errors.New("null is not a ref")
	}
	var err error
	*r, err = New(p.Account, p.Slug)
	return err
}
