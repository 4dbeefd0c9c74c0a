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
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
)

// periods are the calendar windows, in the order of limitsOf and usageOf.
var periods = []string{"minute", "hour", "day", "week", "month", "year"}

func limitsOf(l *wire.RateLimitConfig) []**int64 {
	return []**int64{&l.MinuteLimit, &l.HourLimit, &l.DayLimit, &l.WeekLimit, &l.MonthLimit, &l.YearLimit}
}

func usageOf(u *wire.Usage) []wire.PeriodUsage {
	return []wire.PeriodUsage{u.Minute, u.Hour, u.Day, u.Week, u.Month, u.Year}
}

// options say whose limits are shown, and which are set.
type options struct {
	bot       wire.Bot
	limits    map[string]int64 // by the name of the period
	unlimited []string
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
		Example: "  tool rate-limit @acme/ci\n  tool rate-limit @acme/ci --minute 60 --day 10000\n" +
			"  tool rate-limit crawler --account acme --unlimited day",
		Args: cmdline.Exactly("<bot>"),
	}
	f := c.Flags()
	for i, name := range periods {
		f.Int64Var(&limits[i], name, 0, "allow `N` requests per "+name+"; 0 allows none")
	}
	f.StringArrayVar(&unlimited, "unlimited", nil, "remove the limit of this `PERIOD`; repeatable")
	f.StringVar(&account, "account", "", "look for the botId in this account (default: yours)")
	c.RunE = a.Run(func(ctx context.Context, args []string) error {
		o := options{bot: wire.Bot{Account: account, BotID: args[0]}, limits: map[string]int64{}, unlimited: unlimited}
		if r, err := ref.Parse(args[0]); err == nil && strings.HasPrefix(args[0], "@") {
			o.bot = wire.Bot{Account: r.Account(), BotRefID: r.String()}
			if account != "" && account != r.Account() {
				return cmdline.Usagef("%s is a bot of %s, not of %s: leave out --account", r, r.Account(), account)
			}
		}
		for i, name := range periods {
			if f.Changed(name) {
				o.limits[name] = limits[i]
			}
		}
		if err := o.check(); err != nil {
			return err
		}
		act := app.Action{Doing: "show the rate limits of " + args[0], Writes: o.sets(), Next: cmdline.Tool("bot", "list")}
		if o.sets() {
			act.Doing = "set the rate limits of " + args[0]
		}
		if o.bot.Account != "" {
			act.Next = act.Next.With(o.bot.Account)
		}
		return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) { return o.run(ctx, hub.Client) })
	})
	return a.HubFlags(c)
}

func (o *options) sets() bool { return len(o.limits)+len(o.unlimited) > 0 }

func (o *options) check() error {
	if o.bot.Account != "" && !ref.ValidName(o.bot.Account) {
		return cmdline.Usagef("%q is not an account: an account is %s", o.bot.Account, ref.Rule)
	}
	for name, limit := range o.limits {
		if limit < 0 || limit > wire.MaxLimit {
			return cmdline.Usagef("--%s is a number from 0 to %d", name, int64(wire.MaxLimit))
		}
	}
	for _, name := range o.unlimited {
		if !slices.Contains(periods, name) {
			return cmdline.Usagef("--unlimited is minute, hour, day, week, month or year, not %q", name)
		}
		if _, both := o.limits[name]; both {
			return cmdline.Usagef("--%[1]s and --unlimited %[1]s exclude each other", name)
		}
	}
	return nil
}

// result is a bot with its limits and its usage.
type result struct {
	app.OnHub       `json:",inline"`
	*wire.RateLimit `json:",inline"`
	Changed         bool `json:"changed"`

	effect string // "": the limits were only read
}

func (*result) Kind() string     { return "rateLimit" }
func (r *result) Effect() string { return r.effect }

// barWidth is the length of a bar, in columns.
const barWidth = 20

func (r *result) Text(w *app.Printer) {
	name := r.Bot.BotRefID
	if name == "" {
		name = r.Bot.BotID + " of @" + r.Bot.Account
	}
	w.Head("%s", name)
	for i, u := range usageOf(&r.Usage) {
		if u.Limit == nil {
			w.Field(periods[i], "%-*s %d used, unlimited", barWidth, "", u.Used)
			continue
		}
		layout := "15:04"
		if time.Until(u.ResetsAt) > 24*time.Hour {
			layout = "2006-01-02 15:04"
		}
		text := fmt.Sprintf("%d of %d used, until %s UTC", u.Used, *u.Limit, u.ResetsAt.UTC().Format(layout))
		w.Field(periods[i], "%s %s", tui.Bar(u.Used, *u.Limit, barWidth), text)
	}
}

// run returns the limits, after it set those that are named.
func (o *options) run(ctx context.Context, hub *hubclient.Client) (*result, error) {
	current, err := hub.RateLimit(ctx, o.bot)
	if hubclient.HasCode(err, wire.CodeNotFound) {
		if meant, ok := o.meant(ctx, hub); ok {
			return nil, failure.New(wire.CodeNotFound,
				"%s is not the botId of another system's bot, but %s is a bot of this hub", o.bot.BotID, meant).Try(o.line(meant))
		}
		if o.sets() {
			current, err = &wire.RateLimit{}, nil
		}
	}
	if err != nil || !o.sets() {
		return &result{RateLimit: current}, err
	}
	limits := current.Limits
	for i, limit := range limitsOf(&limits) {
		if n, ok := o.limits[periods[i]]; ok {
			*limit = &n
		}
		if slices.Contains(o.unlimited, periods[i]) {
			*limit = nil
		}
	}
	// With the revision, so that limits which somebody else sets meanwhile are not lost.
	set, err := hub.SetRateLimit(ctx, o.bot, limits, current.Revision)
	if err != nil {
		return nil, err
	}
	return &result{RateLimit: set, Changed: set.Revision != current.Revision, effect: "the limits were set"}, nil
}

// meant returns the bot of the hub whose slug was given as a botId. Limits of the botId
// would not be those of the bot.
func (o *options) meant(ctx context.Context, hub *hubclient.Client) (r ref.Ref, ok bool) {
	account := o.bot.Account
	if account == "" {
		who, err := hub.Whoami(ctx)
		if err != nil {
			return r, false
		}
		account = who.User
	}
	r, err := ref.New(account, o.bot.BotID)
	if err != nil {
		return r, false
	}
	_, err = hub.RateLimit(ctx, wire.Bot{Account: account, BotRefID: r.String()})
	return r, err == nil
}

// line is the same command about another bot.
func (o *options) line(bot ref.Ref) cmdline.Line {
	line := cmdline.Tool("rate-limit").With(bot.String())
	for _, name := range periods {
		if limit, ok := o.limits[name]; ok {
			line = line.Flag("--"+name, strconv.FormatInt(limit, 10))
		}
	}
	for _, name := range o.unlimited {
		line = line.Flag("--unlimited", name)
	}
	return line
}
