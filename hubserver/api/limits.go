package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// setRateLimit replaces the rate limits of a bot. An unknown bot is created, with the names in the query and without
// tokens.
func setRateLimit(c *request.Call, req *wire.RateLimitConfig) error {
	limits := store.Limits{req.MinuteLimit, req.HourLimit, req.DayLimit, req.WeekLimit, req.MonthLimit, req.YearLimit}
	for p, limit := range limits {
		if limit != nil && (*limit < 0 || *limit > wire.MaxLimit) {
			return request.InvalidBody(fmt.Sprintf("/%vLimit", store.Period(p)),
				"must be a whole number from 0 to %d", int64(wire.MaxLimit))
		}
	}
	id, refID, err := botNames(c)
	if err != nil {
		return err
	}
	if err := c.NeedUser("set rate limits"); err != nil {
		return err
	}
	condition := c.Condition()
	var bot *store.Bot
	var created bool
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		bot, err = tx.LockBot(c.Access.AccountID, id, refID)
		created = errors.Is(err, store.ErrNotFound)
		revision := ""
		if err == nil {
			revision = limitsRevision(bot.Limits)
		} else if !created {
			return done, err
		}
		if !condition.Holds(revision, !created) {
			return done, request.RevisionChanged("the limits of the bot are not the ones that If-Match names")
		}
		if revision == limitsRevision(limits) {
			return done, nil
		}
		done = request.Done{Account: c.AccountInQuery(), Action: "rate-limit.set", Object: cmp.Or(refID, id)}
		if created {
			bot = &store.Bot{AccountID: c.Access.AccountID, Account: done.Account, BotID: id, BotRefID: refID}
			bot.Limits, bot.UpdatedBy = limits, c.Access.Name()
			return done, tx.AddBot(bot)
		}
		bot.Limits = limits
		return done, tx.SetLimits(bot.ID, limits, c.Access.Name())
	})
	return answerRateLimit(c, bot, created, err)
}

func getRateLimit(c *request.Call) error {
	id, refID, err := botNames(c)
	if err != nil {
		return err
	}
	bot, err := c.View().Bot(c.Access.AccountID, id, refID)
	return answerRateLimit(c, bot, false, err)
}

func botProblem(c *request.Call, err error) error {
	switch {
	case errors.Is(err, store.ErrBotMismatch):
		return request.Problemf(http.StatusUnprocessableEntity, wire.CodeBotMismatch, "%v", err)
	case errors.Is(err, store.ErrNotFound):
		return request.NotFound("such bot in " + c.AccountInQuery())
	}
	return err
}

// answerRateLimit responds with the limits of a bot, and their use; err is that of reading or storing them.
func answerRateLimit(c *request.Call, bot *store.Bot, created bool, err error) error {
	if err != nil {
		return botProblem(c, err)
	}
	usage, err := c.View().Usage(bot.ID)
	if err != nil {
		return botProblem(c, err)
	}
	revision, l := limitsRevision(bot.Limits), bot.Limits
	c.W.Header().Set("ETag", request.ETag(revision))
	return c.JSON(http.StatusOK, wire.RateLimit{
		Bot: toBot(bot), Revision: revision, Usage: toUsage(usage), Created: created,
		Limits: wire.RateLimitConfig{
			MinuteLimit: l[0], HourLimit: l[1], DayLimit: l[2], WeekLimit: l[3], MonthLimit: l[4], YearLimit: l[5],
		},
	})
}

const maxBotName = 128 // characters

// botNames returns the bot's names in the query, ?botId= and ?botRefId=: 422 if both are missing or one is invalid.
// The @ of a ref may be missing.
func botNames(c *request.Call) (id, refID string, err error) {
	q := c.R.URL.Query()
	id, refID = q.Get("botId"), q.Get("botRefId")
	if id == "" && refID == "" {
		return "", "", request.InvalidBody("", "botRefId or botId is needed in the query")
	}
	invalid := func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }
	for _, name := range []string{"botId", "botRefId"} {
		if value := q.Get(name); utf8.RuneCountInString(value) > maxBotName || strings.ContainsFunc(value, invalid) {
			return "", "", request.InvalidBody("", "%s must be 1 to %d printable characters without spaces", name, maxBotName)
		}
	}
	if r, err := ref.ParseTyped(refID); err == nil {
		refID = r.String()
	}
	return id, refID, nil
}

// limitsRevision returns the digest of limits, which is their ETag.
func limitsRevision(limits store.Limits) string {
	var set []byte
	for p, limit := range limits {
		if limit != nil {
			set = fmt.Appendf(set, "%v %d\n", store.Period(p), *limit)
		}
	}
	return store.Digest(set)
}

// CountBot counts the request of a bot against its limits, and sets the headers about them: 429 if it has used one up.
func CountBot(c *request.Call) error {
	var usage *store.Usage
	var admitted bool
	err := c.Hub.Store.Write(c.Ctx(), func(tx *store.Tx) (err error) {
		usage, admitted, err = tx.TakeLimit(c.Access.BotID, 1)
		return err
	})
	if err != nil {
		return err
	}
	return spent(c, usage, admitted, c.Access.Name(), 1)
}

// takeRateLimit counts n requests that a bot makes to another system. A bot needs no scope to count its own requests,
// and this request is then not counted in addition. A bot that counts for another one does need it, and is counted.
func takeRateLimit(c *request.Call) error {
	id, refID, err := botNames(c)
	if err != nil {
		return err
	}
	bot, err := c.View().Bot(c.Access.AccountID, id, refID)
	if c.Access.IsBot() && (err != nil || bot.ID != c.Access.BotID) {
		if err := c.NeedScope(wire.ScopeUseLimit); err != nil {
			return err
		}
		if err := CountBot(c); err != nil {
			return err
		}
	}
	if err != nil {
		return botProblem(c, err)
	}
	text := cmp.Or(c.R.URL.Query().Get("n"), "1")
	count, err := strconv.ParseUint(text, 10, 31) // which takes no sign
	n := int64(count)
	if err != nil || n < 1 || n > wire.MaxTake {
		return request.InvalidBody("", "n must be a whole number from 1 to %d, not %q", wire.MaxTake, text)
	}
	var usage *store.Usage
	var admitted bool
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		usage, admitted, err = tx.TakeLimit(bot.ID, n)
		return done, err
	})
	if err != nil {
		return botProblem(c, err)
	}
	if err := spent(c, usage, admitted, cmp.Or(bot.BotRefID, bot.BotID), n); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, wire.Taken{Bot: toBot(bot), Taken: n, Remaining: toRemaining(usage)})
}

// spent sets the headers about what is left of a bot's limits. It returns a 429 if n requests were not admitted;
// name is what its message calls the bot.
func spent(c *request.Call, u *store.Usage, admitted bool, name string, n int64) error {
	setRateLimitFields(c.W.Header(), u)
	if admitted {
		return nil
	}
	period, wait := u.Refuses(n)
	limit := u.Windows[period].Limit
	if n > 1 {
		const message = "%d more requests would exceed the limit of %s of %d per %v"
		return request.RateLimited(seconds(wait), message, n, name, limit, period)
	}
	return request.RateLimited(seconds(wait), "%s has used its limit of %d per %v", name, limit, period)
}

// periodSeconds is how long each period is in RateLimit-Policy, which knows no calendar.
var periodSeconds = [store.Periods]int64{60, 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400}

// maxInteger is the largest integer of a structured field.
const maxInteger = 999_999_999_999_999

// setRateLimitFields sets RateLimit-Policy and RateLimit, as draft-ietf-httpapi-ratelimit-headers-10 says, if any
// period is limited.
func setRateLimitFields(header http.Header, u *store.Usage) {
	var policies, limits []string
	for i, w := range u.Windows {
		if w.Limit < 0 {
			continue
		}
		policies = append(policies, fmt.Sprintf("%q;q=%d;w=%d", store.Period(i), min(w.Limit, maxInteger), periodSeconds[i]))
		limits = append(limits, fmt.Sprintf("%q;r=%d;t=%d", store.Period(i), min(w.Remaining(), maxInteger),
			seconds(w.Ends.Time().Sub(u.Now.Time()))))
	}
	header.Del("RateLimit-Policy") // set by CountBot for the calling bot
	header.Del("RateLimit")
	if len(policies) > 0 {
		header.Set("RateLimit-Policy", strings.Join(policies, ", "))
		header.Set("RateLimit", strings.Join(limits, ", "))
	}
}

// seconds returns d in seconds, rounded up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

func toUsage(u *store.Usage) wire.Usage {
	var all [store.Periods]wire.PeriodUsage
	for p, w := range u.Windows {
		all[p] = wire.PeriodUsage{Limit: limited(w, w.Limit), Used: w.Used, ResetsAt: w.Ends.Time()}
	}
	return wire.Usage{Minute: all[0], Hour: all[1], Day: all[2], Week: all[3], Month: all[4], Year: all[5]}
}

func toRemaining(u *store.Usage) wire.Remaining {
	var all [store.Periods]*int64
	for p, w := range u.Windows {
		all[p] = limited(w, w.Remaining())
	}
	return wire.Remaining{Minute: all[0], Hour: all[1], Day: all[2], Week: all[3], Month: all[4], Year: all[5]}
}

// limited returns n for a window with a limit, nil for one without.
func limited(w store.Window, n int64) *int64 {
	if w.Limit < 0 {
		return nil
	}
	return &n
}
