package app

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/ref"
)

// List is a command that lists what an account has on the hub.
type List struct {
	Name    string // of the parent command, such as api
	Kind    string // of the JSON result, such as apis
	Heading string // what is listed, in words, such as APIs
	Short   string
	// Find returns the result of account, or of all accounts of the caller, and its rows.
	Find func(ctx context.Context, hub *identity.Hub, account string) (result any, rows [][]string, err error)
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
			hub, err := a.Connect()
			if err != nil {
				return failure.Doing(failure.At("list", err), "", "list %s", l.Heading)
			}
			result, rows, err := l.Find(ctx, hub, account)
			if err != nil {
				return failure.Doing(Explain(hub, err).At("list"), "", "list %s", l.Heading)
			}
			return a.Print(l.Kind, result, func(w *Printer) {
				if len(rows) == 0 {
					w.Line("No %s that you can see on %s", strings.TrimSuffix(l.Heading+" of "+account, " of "), hub.Origin())
				}
				w.Columns(rows)
			})
		}),
	})
}
