// Package ratelimit shows and sets the rate limits of bots.
package ratelimit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/ui"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// period is one of the calendar windows.
type period struct {
	name  string
	limit func(*wire.RateLimitConfig) **int64
	usage func(*wire.Usage) *wire.PeriodUsage
}

var periods = []period{
	{"minute", func(l *wire.RateLimitConfig) **int64 { return &l.MinuteLimit }, func(u *wire.Usage) *wire.PeriodUsage { return &u.Minute }},
	{"hour", func(l *wire.RateLimitConfig) **int64 { return &l.HourLimit }, func(u *wire.Usage) *wire.PeriodUsage { return &u.Hour }},
	{"day", func(l *wire.RateLimitConfig) **int64 { return &l.DayLimit }, func(u *wire.Usage) *wire.PeriodUsage { return &u.Day }},
	{"week", func(l *wire.RateLimitConfig) **int64 { return &l.WeekLimit }, func(u *wire.Usage) *wire.PeriodUsage { return &u.Week }},
	{"month", func(l *wire.RateLimitConfig) **int64 { return &l.MonthLimit }, func(u *wire.Usage) *wire.PeriodUsage { return &u.Month }},
	{"year", func(l *wire.RateLimitConfig) **int64 { return &l.YearLimit }, func(u *wire.Usage) *wire.PeriodUsage { return &u.Year }},
}

// Options say whose limits are shown, and which are set.
type Options struct {
	Bot       wire.Bot
	Limits    map[string]int64 // by the name of the period
	Unlimited []string
}

// Command returns the command rate-limit.
func Command(a *app.App) *cobra.Command {
	var account string
	var unlimited []string
	limits := make([]int64, len(periods))
	c := &cobra.Command{
		Use:   "rate-limit <bot>",
		Short: "Show or set the rate limits of a bot",
		Long: `Show what a bot has used of its rate limits, or set some of them. A bot is
@account/slug, or the botId of a bot of another system; setting limits registers
such a bot. Limits that are not named stay as they are.

Periods are calendar periods in UTC: a day begins at midnight, a week on Monday.`,
		Example: "  tool rate-limit @acme/ci\n  tool rate-limit @acme/ci --minute 60 --day 10000\n  tool rate-limit crawler --account acme --unlimited day",
		Args:    cmdline.Exactly("<bot>"),
	}
	f := c.Flags()
	for i, p := range periods {
		f.Int64Var(&limits[i], p.name, 0, "allow `N` requests per "+p.name+"; 0 allows none")
	}
	f.StringArrayVar(&unlimited, "unlimited", nil, "remove the limit of this `PERIOD`; repeatable")
	f.StringVar(&account, "account", "", "look for the botId in this account (default: yours)")
	c.RunE = a.Run(func(ctx context.Context, args []string) error {
		o := Options{Bot: wire.Bot{Account: account, BotID: args[0]}, Limits: map[string]int64{}, Unlimited: unlimited}
		if r, err := ref.Parse(args[0]); err == nil && strings.HasPrefix(args[0], "@") {
			o.Bot = wire.Bot{Account: r.Account(), BotRefID: r.String()}
			if account != "" && account != r.Account() {
				return cmdline.Usagef("%s is a bot of %s, not of %s: leave out --account", r, r.Account(), account)
			}
		}
		for i, p := range periods {
			if f.Changed(p.name) {
				o.Limits[p.name] = limits[i]
			}
		}
		if err := o.check(); err != nil {
			return err
		}
		return failure.Doing(run(ctx, a, o), "", "%s the rate limits of %s", o.verb(), args[0])
	})
	return a.HubFlags(c)
}

func (o *Options) sets() bool { return len(o.Limits)+len(o.Unlimited) > 0 }

func (o *Options) verb() string {
	if o.sets() {
		return "set"
	}
	return "show"
}

func (o *Options) check() error {
	if o.Bot.Account != "" && !ref.ValidName(o.Bot.Account) {
		return cmdline.Usagef("%q is not an account: an account is %s", o.Bot.Account, ref.Rule)
	}
	for name, limit := range o.Limits {
		if limit < 0 || limit > wire.MaxLimit {
			return cmdline.Usagef("--%s is a number from 0 to %d", name, int64(wire.MaxLimit))
		}
	}
	for _, name := range o.Unlimited {
		if !slices.ContainsFunc(periods, func(p period) bool { return p.name == name }) {
			return cmdline.Usagef("--unlimited is minute, hour, day, week, month or year, not %q", name)
		}
		if _, both := o.Limits[name]; both {
			return cmdline.Usagef("--%[1]s and --unlimited %[1]s exclude each other", name)
		}
	}
	return nil
}

// Result is a bot with its limits and its usage.
type Result struct {
	Origin         string `json:"origin"`
	wire.RateLimit `json:",inline"`
	Changed        bool `json:"changed"`
}

func run(ctx context.Context, a *app.App, o Options) error {
	hub, err := a.ConnectTo(ctx, o.sets())
	if err != nil {
		return failure.At("rate-limit", err)
	}
	current, err := hub.RateLimit(ctx, o.Bot)
	if failure.Of(err).Code == wire.CodeNotFound {
		if meant, ok := o.meant(ctx, hub.Client); ok {
			return failure.New(wire.CodeNotFound, "%s is not the botId of another system's bot, but %s is a bot of this hub", o.Bot.BotID, meant).
				At("rate-limit").WithRecipe(o.line(meant))
		}
		if o.sets() {
			current, err = &wire.RateLimit{}, nil
		}
	}
	if err != nil {
		f := app.Explain(hub, err).At("rate-limit")
		if f.Code == wire.CodeNotFound {
			f = f.WithRecipe(o.list())
		}
		return f
	}
	result, done := &Result{Origin: hub.Origin(), RateLimit: *current}, ""
	if o.sets() {
		limits := current.Limits
		o.apply(&limits)
		// With the revision, so that limits which somebody else sets meanwhile are not lost.
		set, err := hub.SetRateLimit(ctx, o.Bot, limits, current.Revision)
		if err != nil {
			return app.Explain(hub, err).At("rate-limit")
		}
		result.RateLimit, result.Changed = *set, set.Revision != current.Revision
		done = "the limits were set"
	}
	return a.PrintDone("rateLimit", done, result, func(w *app.Printer) { show(w, result) })
}

// meant returns the bot of the hub whose slug was given as a botId. Limits of the botId
// would not be those of the bot.
func (o *Options) meant(ctx context.Context, hub *hubclient.Client) (r ref.Ref, ok bool) {
	account := o.Bot.Account
	if account == "" {
		who, err := hub.Whoami(ctx)
		if err != nil {
			return r, false
		}
		account = who.User
	}
	r, err := ref.New(account, o.Bot.BotID)
	if err != nil {
		return r, false
	}
	_, err = hub.RateLimit(ctx, wire.Bot{Account: account, BotRefID: r.String()})
	return r, err == nil
}

// line is the same command about another bot.
func (o *Options) line(bot ref.Ref) cmdline.Line {
	line := cmdline.Tool("rate-limit").With(bot.String())
	for _, p := range periods {
		if limit, ok := o.Limits[p.name]; ok {
			line = line.Flag("--"+p.name, strconv.FormatInt(limit, 10))
		}
	}
	for _, name := range o.Unlimited {
		line = line.Flag("--unlimited", name)
	}
	return line
}

// list is the command that lists the bots of the same account.
func (o *Options) list() cmdline.Line {
	line := cmdline.Tool("bot", "list")
	if o.Bot.Account != "" {
		line = line.With(o.Bot.Account)
	}
	return line
}

// apply changes the limits that are named.
func (o *Options) apply(limits *wire.RateLimitConfig) {
	for _, p := range periods {
		if limit, ok := o.Limits[p.name]; ok {
			*p.limit(limits) = &limit
		}
		if slices.Contains(o.Unlimited, p.name) {
			*p.limit(limits) = nil
		}
	}
}

// barWidth is the length of a bar, in columns.
const barWidth = 20

func show(w *app.Printer, r *Result) {
	name := r.Bot.BotRefID
	if name == "" {
		name = r.Bot.BotID + " of @" + r.Bot.Account
	}
	w.Line("%s", name)
	w.Field("origin", "%s", r.Origin)
	for _, p := range periods {
		u := p.usage(&r.Usage)
		if u.Limit == nil {
			w.Field(p.name, "%-*s %d used, unlimited", barWidth, "", u.Used)
			continue
		}
		text := fmt.Sprintf("%d of %d used, until %s UTC", u.Used, *u.Limit, u.ResetsAt.UTC().Format(layout(u.ResetsAt)))
		w.Field(p.name, "%s %s", ui.Bar(u.Used, *u.Limit, barWidth), text)
	}
}

// layout is how the end of a period is written: with the date if it is not today.
func layout(end time.Time) string {
	if time.Until(end) > 24*time.Hour {
		return "2006-01-02 15:04"
	}
	return "15:04"
}
