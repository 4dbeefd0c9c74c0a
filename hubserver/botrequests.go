package hubserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/ratelimit"
	"example.com/projecthub/store"
)

// SettleRateLimits stores what bots used since it was last stored, and gives back what
// they did not. A hub calls it about twice a second, and with all when it has answered its
// last request. Until then what this hub holds counts as used.
func (s *Server) SettleRateLimits(ctx context.Context, all bool) error {
	return s.limiter.Settle(ctx, all)
}

func limiterName(row *store.RateLimit) ratelimit.Bot {
	return ratelimit.Bot{Account: row.Account, ID: row.ID}
}

// countRequest counts the request against the limits of the bot whose token it has.
func (c *call) countRequest(who *caller) error {
	if c.op == wire.OpTakeRateLimit { // its handler counts
		return nil
	}
	_, err := c.spend(ratelimit.Bot{Account: who.account, ID: who.token.Bot}, who.user, 1)
	if errors.Is(err, store.ErrNotFound) {
		return bearerProblem(nil, err) // the bot was deleted after the token was looked up
	}
	return err
}

// takeRateLimit counts requests that a bot makes to another system. A bot needs no scope
// to count its own, and asking is then not counted as well.
func (s *Server) takeRateLimit(c *call) error {
	bot, err := c.bot()
	if err != nil {
		return err
	}
	row, err := c.findBot(bot)
	itself := err == nil && c.who.isBot() && row.Account == c.who.account && row.ID == c.who.token.Bot
	if c.who.isBot() && !itself {
		if err := c.needScope(wire.ScopeUseLimit); err != nil {
			return err
		}
		own := ratelimit.Bot{Account: c.who.account, ID: c.who.token.Bot}
		if _, err := c.spend(own, c.who.user, 1); err != nil {
			return err
		}
	}
	if err != nil {
		return c.botProblem(err)
	}
	n, err := c.number()
	if err != nil {
		return err
	}
	d, err := c.spend(limiterName(row), botName(toBot(row)), n)
	if err != nil {
		return c.botProblem(err)
	}
	return c.json(http.StatusOK, wire.Taken{Bot: toBot(row), Taken: n, Remaining: toRemaining(d.Windows)})
}

// number returns how many requests the query names.
func (c *call) number() (int64, error) {
	text := cmp.Or(c.r.URL.Query().Get("n"), "1")
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n < 1 || n > wire.MaxTake {
		return 0, invalidBody("", "n must be a whole number from 1 to %d, not %q", wire.MaxTake, text)
	}
	return int64(n), nil
}

// spend admits n requests of the bot that people know as name, and says in the response's
// header what is left of its limits.
func (c *call) spend(bot ratelimit.Bot, name string, n int64) (ratelimit.Decision, error) {
	d, err := c.s.limiter.Take(c.ctx(), bot, n)
	if err != nil {
		return d, err
	}
	setRateLimitFields(c.w.Header(), d.Windows)
	if d.Admitted {
		return d, nil
	}
	limit := d.Windows[d.Period].Limit
	p := problemf(http.StatusTooManyRequests, wire.CodeRateLimited, "%s has used its limit of %d per %v", name, limit, d.Period)
	if n > 1 {
		p = problemf(http.StatusTooManyRequests, wire.CodeRateLimited, "%d more requests would exceed the limit of %s of %d per %v", n, name, limit, d.Period)
	}
	return d, p.with("Retry-After", strconv.FormatInt(seconds(d.RetryAfter), 10))
}

// periodSeconds is how long each period is in RateLimit-Policy, which knows no calendar.
var periodSeconds = [store.Periods]int64{60, 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400}

// maxInteger is the largest integer of a structured field.
const maxInteger = 999_999_999_999_999

// setRateLimitFields sets RateLimit-Policy and RateLimit of
// draft-ietf-httpapi-ratelimit-headers-10, if any period is limited.
func setRateLimitFields(header http.Header, windows [store.Periods]ratelimit.Window) {
	var policies, limits []string
	for i, w := range windows {
		if w.Limit < 0 {
			continue
		}
		policies = append(policies, fmt.Sprintf("%q;q=%d;w=%d", store.Period(i), min(w.Limit, maxInteger), periodSeconds[i]))
		limits = append(limits, fmt.Sprintf("%q;r=%d;t=%d", store.Period(i), min(w.Remaining, maxInteger), seconds(w.Ends)))
	}
	header.Del("RateLimit-Policy") // those of a bot that takes for another
	header.Del("RateLimit")
	if len(policies) > 0 {
		header.Set("RateLimit-Policy", strings.Join(policies, ", "))
		header.Set("RateLimit", strings.Join(limits, ", "))
	}
}

// seconds rounds up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
