package hubserver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"unicode"
	"unicode/utf8"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func (s *Server) setRateLimit(c *call) error {
	var limits wire.RateLimitConfig
	if _, err := c.readJSON("the body", maxJSON, &limits); err != nil {
		return err
	}
	if err := checkLimits(&limits); err != nil {
		return err
	}
	bot, err := c.bot()
	if err != nil {
		return err
	}
	if err := c.needUser("set rate limits"); err != nil {
		return err
	}
	row := &store.RateLimit{
		Account: bot.Account, ID: rand.Text(), BotID: bot.BotID, BotRefID: bot.BotRefID, UpdatedBy: c.who.user,
		MinuteLimit: limits.MinuteLimit, HourLimit: limits.HourLimit, DayLimit: limits.DayLimit,
		WeekLimit: limits.WeekLimit, MonthLimit: limits.MonthLimit, YearLimit: limits.YearLimit,
	}
	var set *store.RateLimit
	err = c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		var changed bool
		set, changed, err = tx.SetRateLimit(c.ctx(), row, func(current *store.RateLimit) error {
			revision := ""
			if current != nil {
				revision = limitsRevision(current)
			}
			if !c.ifMatch(revision, current != nil) {
				return revisionChanged("the limits of the bot are not the ones that If-Match names")
			}
			return nil
		})
		if err != nil || !changed {
			return err
		}
		return c.audit(c.ctx(), tx, bot.Account, "rate-limit.set", botName(bot), "")
	})
	return c.answerRateLimit(set, err)
}

func (s *Server) getRateLimit(c *call) error {
	bot, err := c.bot()
	if err != nil {
		return err
	}
	row, err := c.findBot(bot)
	return c.answerRateLimit(row, err)
}

func (c *call) findBot(bot wire.Bot) (*store.RateLimit, error) {
	return lookUp(c, func(v *store.View) (*store.RateLimit, error) {
		return v.RateLimit(c.ctx(), bot.Account, bot.BotID, bot.BotRefID)
	})
}

// botProblem converts the error of a look-up of the bot that the query names.
func (c *call) botProblem(err error) error {
	if errors.Is(err, store.ErrBotMismatch) {
		return problemf(http.StatusUnprocessableEntity, wire.CodeBotMismatch, "%v", err)
	}
	return absent(err, "such bot in "+c.accountOf(wire.InBot))
}

// answerRateLimit responds with the limits of a bot, or with why they were not read
// or stored.
func (c *call) answerRateLimit(row *store.RateLimit, err error) error {
	if err != nil {
		return c.botProblem(err)
	}
	usage, err := c.usage(row)
	if err != nil {
		return err
	}
	revision := limitsRevision(row)
	c.w.Header().Set("ETag", etag(revision))
	return c.json(http.StatusOK, wire.RateLimit{Bot: toBot(row), Limits: toLimits(row), Revision: revision, Usage: usage})
}

// usage returns what a bot has used: what the store counts, and what this hub has
// admitted since. What other hubs admit is counted when it is about a second old.
func (c *call) usage(row *store.RateLimit) (wire.Usage, error) {
	windows, err := lookUp(c, func(v *store.View) ([store.Periods]store.RateWindow, error) { return v.RateUsage(c.ctx(), row) })
	if err != nil {
		return wire.Usage{}, err
	}
	spent, granted := c.s.limiter.Spent(limiterName(row))
	for p := range windows {
		if w := &windows[p]; granted >= w.Start {
			w.Used += spent
		}
	}
	return toUsage(windows), nil
}

// bot returns the bot that the query names.
func (c *call) bot() (wire.Bot, error) {
	q := c.r.URL.Query()
	bot := wire.Bot{Account: c.accountOf(wire.InBot), BotID: q.Get("botId"), BotRefID: q.Get("botRefId")}
	if bot.BotID == "" && bot.BotRefID == "" {
		return bot, invalidBody("", "botRefId or botId is needed in the query")
	}
	for name, value := range map[string]string{"botId": bot.BotID, "botRefId": bot.BotRefID} {
		if !opaqueName(value) {
			return bot, invalidBody("", "%s must be 1 to %d printable characters without spaces", name, maxBotName)
		}
	}
	return bot, nil
}

const maxBotName = 128

func opaqueName(s string) bool {
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > maxBotName {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) || unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

func botName(b wire.Bot) string {
	if b.BotRefID != "" {
		return b.BotRefID
	}
	return b.BotID
}

func checkLimits(l *wire.RateLimitConfig) error {
	for _, p := range periods {
		if limit := p.limit(l); limit != nil && (*limit < 0 || *limit > wire.MaxLimit) {
			return invalidBody("/"+p.name+"Limit", "must be a whole number from 0 to %d", int64(wire.MaxLimit))
		}
	}
	return nil
}

// limitsRevision names the content of a configuration.
func limitsRevision(r *store.RateLimit) string {
	limits := toLimits(r)
	h := sha256.New()
	for _, p := range periods {
		if limit := p.limit(&limits); limit != nil {
			fmt.Fprintf(h, "%s %d\n", p.name, *limit)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// period is a calendar window in UTC.
type period struct {
	name  string
	limit func(*wire.RateLimitConfig) *int64
}

var periods = []period{
	{"minute", func(l *wire.RateLimitConfig) *int64 { return l.MinuteLimit }},
	{"hour", func(l *wire.RateLimitConfig) *int64 { return l.HourLimit }},
	{"day", func(l *wire.RateLimitConfig) *int64 { return l.DayLimit }},
	{"week", func(l *wire.RateLimitConfig) *int64 { return l.WeekLimit }},
	{"month", func(l *wire.RateLimitConfig) *int64 { return l.MonthLimit }},
	{"year", func(l *wire.RateLimitConfig) *int64 { return l.YearLimit }},
}
