package app

import (
	"context"
	"slices"
	"strings"

	"github.com/maruel/natural"
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/ref"
)

// List is a command that lists what an account has on the hub.
type List struct {
	Name  string // of the parent command, such as api
	Short string
	// Find returns what is listed, in the listing.
	Find func(ctx context.Context, hub *identity.Hub, l Listing) (Result, error)

	Heading string // what is listed, in words, such as APIs
}

// Listing is the part of a result that lists what an account has.
type Listing struct {
	OnHub   `json:",inline"`
	Account string `json:"account,omitzero"` // "": all of the caller's

	Heading string     `json:"-"`
	Rows    [][]string `json:"-"`
}

// Row adds a line to the text.
func (l *Listing) Row(cells ...string) { l.Rows = append(l.Rows, cells) }

// Text writes the rows in natural order: web-2 before web-10.
func (l *Listing) Text(w *Printer) {
	if len(l.Rows) == 0 {
		w.Line("No %s that you can see on %s", strings.TrimSuffix(l.Heading+" of "+l.Account, " of "), l.Origin)
	}
	slices.SortStableFunc(l.Rows, func(a, b []string) int { return natural.Compare(a[0], b[0]) })
	w.Columns(l.Rows)
}

// ListCommand returns the command list.
func (a *App) ListCommand(l *List) *cobra.Command {
	return a.HubFlags(&cobra.Command{
		Use:     "list [<account>]",
		Short:   l.Short,
		Example: "  tool " + l.Name + " list\n  tool " + l.Name + " list acme",
		Args:    cmdline.AtMost("<account>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			account := strings.TrimPrefix(strings.Join(args, ""), "@")
			if account != "" && !ref.ValidName(account) {
				return cmdline.Usagef("%q is not an account: an account is %s", account, ref.Rule)
			}
			return a.Call(ctx, Action{Doing: "list " + l.Heading}, func(hub *identity.Hub) (Result, error) {
				return l.Find(ctx, hub, Listing{Account: account, Heading: l.Heading})
			})
		}),
	})
}
