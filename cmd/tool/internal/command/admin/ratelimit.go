package admin

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

// RateLimit returns the command rate-limit.
func RateLimit(a *app.App) *cobra.Command {
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
		o := rateLimitOptions{bot: wire.Bot{Account: account, BotID: args[0]}, set: map[string]*int64{}}
		if r, err := ref.Parse(args[0]); err == nil && strings.HasPrefix(args[0], "@") {
			o.bot = wire.Bot{Account: r.Account(), BotRefID: r.String()}
			if account != "" && account != r.Account() {
				return cmdline.Usagef("%s is a bot of %s, not of %s: leave out --account", r, r.Account(), account)
			}
		}
		if account != "" && !ref.ValidName(account) {
			return cmdline.Usagef("%q is not an account: an account is %s", account, ref.Rule)
		}
		for i, name := range periods {
			if limits[i] < 0 || limits[i] > wire.MaxLimit {
				return cmdline.Usagef("--%s is a number from 0 to %d", name, int64(wire.MaxLimit))
			}
			if f.Changed(name) {
				o.set[name] = &limits[i]
			}
		}
		for _, name := range unlimited {
			if !slices.Contains(periods, name) {
				return cmdline.Usagef("--unlimited is minute, hour, day, week, month or year, not %q", name)
			}
			if o.set[name] != nil {
				return cmdline.Usagef("--%[1]s and --unlimited %[1]s exclude each other", name)
			}
			o.set[name] = nil
		}
		act := app.Action{Doing: "show the rate limits of " + args[0], Next: cmdline.Tool("bot", "list")}
		if len(o.set) > 0 {
			act.Doing, act.Writes = "set the rate limits of "+args[0], true
		}
		if o.bot.Account != "" {
			act.Next = act.Next.With(o.bot.Account)
		}
		return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) { return o.run(ctx, hub) })
	})
	return a.HubFlags(c)
}

// rateLimitOptions say whose limits are shown, and which are set.
type rateLimitOptions struct {
	bot wire.Bot
	set map[string]*int64 // by period; nil: unlimited
}

// run returns the limits, after it set those that are named.
func (o *rateLimitOptions) run(ctx context.Context, hub *identity.Hub) (*rateLimit, error) {
	current, err := hub.RateLimit(ctx, o.bot)
	if app.IsNotFound(err) {
		if err := o.refuseSlug(ctx, hub); err != nil {
			return nil, err
		}
		if len(o.set) > 0 {
			current, err = &wire.RateLimit{}, nil
		}
	}
	if err != nil || len(o.set) == 0 {
		return &rateLimit{RateLimit: current}, err
	}
	limits := current.Limits
	for i, limit := range limitsOf(&limits) {
		if set, ok := o.set[periods[i]]; ok {
			*limit = set
		}
	}
	// With the revision, so that limits which somebody else sets meanwhile are not lost.
	now, err := hub.SetRateLimit(ctx, o.bot, limits, current.Revision)
	if err != nil {
		return nil, err
	}
	return &rateLimit{RateLimit: now, Changed: now.Revision != current.Revision, effect: "the limits were set"}, nil
}

// refuseSlug fails if the botId is the slug of a bot of the hub. Limits of the botId would
// not be those of the bot.
func (o *rateLimitOptions) refuseSlug(ctx context.Context, hub *identity.Hub) error {
	account := o.bot.Account
	if account == "" {
		if me, err := hub.Whoami(ctx); err == nil {
			account = me.User
		}
	}
	bot, err := ref.New(account, o.bot.BotID)
	if err != nil {
		return nil
	}
	if _, err := hub.RateLimit(ctx, wire.Bot{Account: account, BotRefID: bot.String()}); err != nil {
		return nil
	}
	again := cmdline.Tool("rate-limit").With(bot.String())
	for _, name := range periods {
		switch limit, set := o.set[name]; {
		case limit != nil:
			again = again.Flag("--"+name, strconv.FormatInt(*limit, 10))
		case set:
			again = again.Flag("--unlimited", name)
		}
	}
	return failure.New(wire.CodeNotFound,
		"%s is not the botId of another system's bot, but %s is a bot of this hub", o.bot.BotID, bot).Try(again)
}

// rateLimit is a bot with its limits and its usage.
type rateLimit struct {
	app.OnHub       `json:",inline"`
	*wire.RateLimit `json:",inline"`
	Changed         bool `json:"changed"`

	effect string // "": the limits were only read
}

func (*rateLimit) Kind() string     { return "rateLimit" }
func (r *rateLimit) Effect() string { return r.effect }

// barWidth is the length of a bar, in columns.
const barWidth = 20

func (r *rateLimit) Text(w *app.Printer) {
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
