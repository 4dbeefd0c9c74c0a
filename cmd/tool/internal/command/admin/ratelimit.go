package admin

import (
	"context"
	"fmt"
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

// periods are the calendar windows that a bot's requests are counted in, in the order in which they
// are shown, each with its limit and its usage. The name is that of the flag, and the name in a result.
var periods = []struct {
	name string
	of   func(*wire.RateLimit) (limit **int64, usage wire.PeriodUsage)
}{
	{"minute", func(r *wire.RateLimit) (**int64, wire.PeriodUsage) { return &r.Limits.MinuteLimit, r.Usage.Minute }},
	{"hour", func(r *wire.RateLimit) (**int64, wire.PeriodUsage) { return &r.Limits.HourLimit, r.Usage.Hour }},
	{"day", func(r *wire.RateLimit) (**int64, wire.PeriodUsage) { return &r.Limits.DayLimit, r.Usage.Day }},
	{"week", func(r *wire.RateLimit) (**int64, wire.PeriodUsage) { return &r.Limits.WeekLimit, r.Usage.Week }},
	{"month", func(r *wire.RateLimit) (**int64, wire.PeriodUsage) { return &r.Limits.MonthLimit, r.Usage.Month }},
	{"year", func(r *wire.RateLimit) (**int64, wire.PeriodUsage) { return &r.Limits.YearLimit, r.Usage.Year }},
}

// rateLimitFlags are the flags as they were typed.
type rateLimitFlags struct {
	account   string
	limits    map[string]*int64 // by period; 0 if the flag is absent, too
	unlimited []string
	given     func(flag string) bool
}

// RateLimit returns the command rate-limit.
func RateLimit(a *app.App) *cobra.Command {
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
	fs := c.Flags()
	flags := rateLimitFlags{limits: map[string]*int64{}, given: fs.Changed}
	for _, p := range periods {
		flags.limits[p.name] = fs.Int64(p.name, 0, "allow `N` requests per "+p.name+"; 0 allows none")
	}
	fs.StringArrayVar(&flags.unlimited, "unlimited", nil, "remove the limit of this `PERIOD`; repeatable")
	fs.StringVar(&flags.account, "account", "", "look for the botId in this account (default: yours)")
	c.RunE = a.Run(func(ctx context.Context, args []string) error {
		o, err := parseRateLimitOptions(args[0], &flags)
		if err != nil {
			return err
		}
		act := app.Action{Doing: "show the rate limits of " + args[0], Next: cmdline.Tool("bot", "list")}
		if len(o.limits) > 0 {
			act.Doing, act.Writes = "set the rate limits of "+args[0], true
		}
		if o.bot.Account != "" {
			act.Next = act.Next.With(o.bot.Account)
		}
		return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
			if len(o.limits) == 0 {
				return o.show(ctx, hub)
			}
			return o.set(ctx, hub)
		})
	})
	return a.HubFlags(c)
}

// rateLimitOptions say which bot's limits are shown, and which limits are set.
type rateLimitOptions struct {
	bot    wire.Bot
	limits map[string]*int64 // by period, those to be set; nil: unlimited
}

// parseRateLimitOptions checks the flags. name is a bot of the hub, or the botId of another
// system's.
func parseRateLimitOptions(name string, flags *rateLimitFlags) (o *rateLimitOptions, err error) {
	account := flags.account
	if account != "" {
		if account, err = app.ParseAccount(account, "an account"); err != nil {
			return nil, err
		}
	}
	o = &rateLimitOptions{bot: wire.Bot{Account: account, BotID: name}, limits: map[string]*int64{}}
	if r, err := ref.Parse(name); err == nil && strings.HasPrefix(name, "@") {
		if account != "" && account != r.Account() {
			return nil, cmdline.Usagef("%s is a bot of %s, not of %s: leave out --account", r, r.Account(), account)
		}
		o.bot = wire.Bot{Account: r.Account(), BotRefID: r.String()}
	}
	for _, p := range periods {
		limit := flags.limits[p.name]
		if *limit < 0 || *limit > wire.MaxLimit {
			return nil, cmdline.Usagef("--%s is a number from 0 to %d", p.name, int64(wire.MaxLimit))
		}
		if flags.given(p.name) {
			o.limits[p.name] = limit
		}
	}
	for _, name := range flags.unlimited {
		if _, known := flags.limits[name]; !known {
			return nil, cmdline.Usagef("--unlimited is minute, hour, day, week, month or year, not %q", name)
		}
		if flags.given(name) {
			return nil, cmdline.Usagef("--%[1]s and --unlimited %[1]s exclude each other", name)
		}
		o.limits[name] = nil
	}
	return o, nil
}

// show returns the limits of the bot.
func (o *rateLimitOptions) show(ctx context.Context, hub *identity.Hub) (app.Result, error) {
	current, err := hub.RateLimit(ctx, o.bot)
	if app.IsNotFound(err) {
		if err := o.refuseSlug(ctx, hub); err != nil {
			return nil, err
		}
	}
	return &rateLimit{RateLimit: current}, err
}

// set sets the limits that are named, and returns all of the bot.
func (o *rateLimitOptions) set(ctx context.Context, hub *identity.Hub) (app.Result, error) {
	former, err := hub.RateLimit(ctx, o.bot)
	if app.IsNotFound(err) { // setting limits registers the bot
		former, err = &wire.RateLimit{}, o.refuseSlug(ctx, hub)
	}
	if err != nil {
		return nil, err
	}
	wanted := *former
	for _, p := range periods {
		if limit, named := o.limits[p.name]; named {
			current, _ := p.of(&wanted)
			*current = limit
		}
	}
	// With the revision, so that limits which somebody else sets meanwhile are not lost.
	now, err := hub.SetRateLimit(ctx, o.bot, wanted.Limits, former.Revision)
	if err != nil {
		return nil, err
	}
	return &rateLimit{RateLimit: now, Changed: now.Revision != former.Revision, effect: "the limits were set"}, nil
}

// refuseSlug fails if the botId is the slug of a bot of the hub, because limits of the botId
// would not be those of that bot. It fails, too, if the hub does not say whether it is.
func (o *rateLimitOptions) refuseSlug(ctx context.Context, hub *identity.Hub) error {
	account := o.bot.Account
	if account == "" {
		me, err := hub.Whoami(ctx)
		if err != nil {
			return err
		}
		account = me.User
	}
	bot, err := ref.New(account, o.bot.BotID)
	if err != nil {
		return nil // no bot of the hub can have this name
	}
	_, err = hub.RateLimit(ctx, wire.Bot{Account: account, BotRefID: bot.String()})
	if app.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	again := cmdline.Tool("rate-limit").With(bot.String())
	for _, p := range periods {
		limit, named := o.limits[p.name]
		switch {
		case limit != nil:
			again = again.Flag("--"+p.name, strconv.FormatInt(*limit, 10))
		case named:
			again = again.Flag("--unlimited", p.name)
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
	for _, p := range periods {
		_, u := p.of(r.RateLimit)
		if u.Limit == nil {
			w.Field(p.name, "%-*s %d used, unlimited", barWidth, "", u.Used)
			continue
		}
		layout := "15:04"
		if time.Until(u.ResetsAt) > 24*time.Hour {
			layout = "2006-01-02 15:04"
		}
		text := fmt.Sprintf("%d of %d used, until %s UTC", u.Used, *u.Limit, u.ResetsAt.UTC().Format(layout))
		w.Field(p.name, "%s %s", tui.Bar(u.Used, *u.Limit, barWidth), text)
	}
}
