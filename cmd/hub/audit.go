package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/store"
)

type auditRow struct {
	At        time.Time `json:"at"`
	Account   string    `json:"account"`
	Actor     string    `json:"actor"`
	Token     string    `json:"token,omitzero"`
	Action    string    `json:"action"`
	Object    string    `json:"object"`
	Detail    string    `json:"detail,omitzero"`
	RequestID string    `json:"requestId,omitzero"`
	Address   string    `json:"address,omitzero"`
}

// mostAuditRows bounds how many rows are read into memory.
const mostAuditRows = 100_000

var action = regexp.MustCompile(`^[a-z-]+(\.[a-z-]+)?$`)

func (a *app) auditCommand() *cobra.Command {
	filter := store.AuditFilter{Limit: 50}
	since := ""
	c := a.command("audit", "Show who changed what", func(ctx context.Context, _ []string) (r result, err error) {
		if filter.Since, err = parseSince(since); err != nil {
			return r, cmdline.Usagef("--since: %v", err)
		}
		if filter.Action != "" && !action.MatchString(filter.Action) {
			const rule = "--action is an action such as token.revoke, or its first part, such as token, not %q"
			return r, cmdline.Usagef(rule, filter.Action)
		}
		filter.Account = strings.TrimPrefix(filter.Account, "@") // as tool writes it
		wanted := filter.Limit
		filter.Limit++ // to find out whether there are more
		rows, err := read(ctx, a, func(v store.View) ([]store.AuditRow, error) {
			rows, err := v.AuditRows(filter)
			if err == nil && len(rows) == 0 && filter.Account != "" {
				_, err = v.Account(filter.Account) // it may be mistyped
			}
			return rows, err
		})
		shown := struct {
			Rows []auditRow `json:"rows"`
			More bool       `json:"more"` // older rows match, too
		}{More: len(rows) > wanted}
		var lines [][]string
		for _, r := range rows[:min(len(rows), wanted)] {
			shown.Rows = append(shown.Rows, auditRow{
				At: r.At.Time(), Account: r.Account, Actor: r.Actor, Token: r.Token, Action: r.Action,
				Object: r.Object, Detail: r.Detail, RequestID: r.RequestID, Address: r.Address,
			})
			lines = append(lines, []string{
				r.At.Time().Format(time.RFC3339), r.Account, r.Actor, cmp.Or(r.Address, "-"), r.Action, r.Object,
				cmp.Or(r.Detail, "-"),
			})
		}
		if shown.More && !a.json {
			fmt.Fprintf(a.err, "note: older rows are not shown: give a --limit above %d\n", wanted)
		}
		return result{"audit", shown, table("TIME\tACCOUNT\tACTOR\tADDRESS\tACTION\tOBJECT\tDETAIL", lines)}, err
	})
	c.Long = "Show the rows of the audit log, newest first: every write, creation and\n" +
		"deletion, every change of rights, and every token that was created or revoked.\n" +
		"The actor hub is a command that was run on the hub's machine. Rows are kept for\n" +
		"400 days, or as long as --audit-days of hub serve says."
	c.Example = "  hub audit --account acme --since 7d\n  hub audit --actor alice --action token\n" +
		"  hub audit --action project.delete --limit 1000 --json"
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&filter.Account, "account", "",
		"show what was done to this `ACCOUNT`, its projects, stacks, APIs, bots and tokens")
	f.StringVar(&filter.Actor, "actor", "", "show what this `USER` did")
	f.StringVar(&filter.Action, "action", "",
		"show this `ACTION`, such as token.revoke, or all of a kind, such as token")
	f.StringVar(&since, "since", "",
		"show what was done since this `TIME`: 12h, 7d, 4w, 2026-01-31 or 2026-01-31T12:00:00Z")
	limitVar(f, &filter.Limit, 1, mostAuditRows, "limit", "show at most `N` rows")
	return c
}

// parseSince returns the time that s means: a duration before now, a day or a moment in
// UTC; 0 for "".
func parseSince(s string) (store.Time, error) {
	if s == "" {
		return 0, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return store.At(t), nil
		}
	}
	ago, err := pat.ParseLifetime(s)
	if err != nil || ago == 0 {
		return 0, fmt.Errorf("%q is no time: give hours, days or weeks, such as 12h, 7d or 4w, "+
			"a day such as 2026-01-31, or 2026-01-31T12:00:00Z", s)
	}
	return store.At(time.Now().Add(-ago)), nil
}
