// Package ratelimit counts the requests of bots against their limits, exactly across
// all replicas of a hub. A replica takes a share of a bot's budget from the store and
// admits requests from it, so that most checks touch only memory; a share is small
// where little is left, and ends after a second.
//
// It knows no HTTP, and not which requests count.
package ratelimit

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"example.com/projecthub/store"
)

// ShareTime is how long a replica uses a share. It bounds how late a new configuration
// takes effect, and how old the usage of other replicas is.
const ShareTime = 900 * time.Millisecond

// refusalTime is how long a refusal is repeated from memory. Meanwhile other replicas
// may return what they did not use.
const refusalTime = 200 * time.Millisecond

// askTime bounds the wait for the store.
const askTime = 5 * time.Second

// Limiter admits the requests of bots for one replica.
type Limiter struct {
	store   *store.Store
	replica string
	now     func() time.Time

	mu   sync.Mutex
	bots map[Bot]*bot
}

// Bot names a bot: the account that owns it, and the ID of its [store.RateLimit].
type Bot struct{ Account, ID string }

// New returns a limiter on an open and migrated store.
func New(s *store.Store) *Limiter {
	return &Limiter{store: s, replica: rand.Text(), now: time.Now, bots: map[Bot]*bot{}}
}

// Decision says whether requests were admitted, and what is left.
type Decision struct {
	Admitted   bool
	Period     store.Period  // if not: the refusing period that ends last
	RetryAfter time.Duration // if not: when they may be admitted
	Windows    [store.Periods]Window
}

// Window is what is left of one period.
type Window struct {
	Limit     int64 // -1: unlimited
	Remaining int64
	Ends      time.Duration // until the next window, or until shares that hold the rest end
}

// bot is what this replica knows of a bot.
type bot struct {
	name Bot

	mu      sync.Mutex
	asking  chan struct{} // closed when the store has answered; nil: it is not being asked
	waiting int64         // requests that need a share
	failure error         // of the last question

	forgotten bool // the limiter has removed it: a new one may hold a share

	share   *store.RateShare // nil: none
	spent   int64
	state   *store.RateState // the last one
	learned time.Time        // when it arrived
	expires time.Time        // of the share or the refusal
	refused int64            // the smallest number of requests that was refused; 0: none
}

// Take admits n requests of a bot, or none of them. store.ErrNotFound when there is no
// such bot.
func (l *Limiter) Take(ctx context.Context, name Bot, n int64) (Decision, error) {
	for {
		b := l.bot(name)
		b.mu.Lock()
		d, err := l.take(ctx, b, n)
		b.mu.Unlock()
		if !errors.Is(err, errForgotten) {
			return d, err
		}
	}
}

// errForgotten says that a bot was removed from the limiter while somebody waited for it.
var errForgotten = errors.New("the bot is looked up again")

// take is Take for a bot that is locked.
func (l *Limiter) take(ctx context.Context, b *bot, n int64) (Decision, error) {
	for {
		if b.forgotten {
			return Decision{}, errForgotten
		}
		if now := l.now(); now.Before(b.expires) {
			if b.share != nil && b.share.Size-b.spent >= n {
				b.spent += n
				return b.decision(now, true), nil
			}
			if b.refused > 0 && n >= b.refused {
				return b.decision(now, false), nil
			}
		}
		if err := l.await(ctx, b, n); err != nil {
			return Decision{}, err
		}
	}
}

func (l *Limiter) bot(name Bot) *bot {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bots[name]
	if b == nil {
		b = &bot{name: name}
		l.bots[name] = b
	}
	return b
}

// await asks the store for a share of at least n, or waits for somebody else's question.
// It is called, and returns, with b.mu locked.
func (l *Limiter) await(ctx context.Context, b *bot, n int64) error {
	if b.asking == nil {
		return l.ask(ctx, b, n)
	}
	asking := b.asking
	b.waiting += n
	b.mu.Unlock()
	select {
	case <-asking:
		b.mu.Lock()
		b.waiting -= n
		return b.failure
	case <-ctx.Done():
		b.mu.Lock()
		b.waiting -= n
		return ctx.Err()
	}
}

// ask settles the share of b and asks for one of at least n; 0 only settles.
func (l *Limiter) ask(ctx context.Context, b *bot, n int64) error {
	ask := store.RateAsk{
		Account: b.name.Account, ID: b.name.ID, Replica: l.replica,
		Old: b.share, Spent: b.spent, Need: n, Want: n + b.waiting + 2*b.spent,
	}
	// Nothing is admitted from the share while it is being settled.
	b.expires, b.refused = time.Time{}, 0
	asking := make(chan struct{})
	b.asking = asking
	b.mu.Unlock()

	asked := l.now()
	// Others wait for the response, too: it does not end with this request.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	var state *store.RateState
	err := l.store.Write(ctx, func(tx *store.Tx) (err error) {
		state, err = tx.ShareRateLimit(ctx, ask)
		return err
	})

	b.mu.Lock()
	b.asking, b.failure = nil, err
	close(asking)
	if errors.Is(err, store.ErrNotFound) {
		l.forget(b)
	}
	if err != nil {
		return err // the share is settled by the next question
	}
	b.share, b.spent, b.state, b.learned = state.Share, 0, state, l.now()
	switch {
	case state.Share != nil:
		b.expires = asked.Add(min(ShareTime, b.untilNextWindow()))
	case n > 0:
		b.refused = n
		b.expires = asked.Add(min(refusalTime, b.untilNextWindow()))
	}
	return nil
}

// untilNextWindow is how long all windows of the last state go on. It is not too long
// when it is added to the time before the question: the store read its clock later.
func (b *bot) untilNextWindow() time.Duration {
	return b.state.Windows[store.Minute].End.Time().Sub(b.state.Now.Time())
}

// forget removes a bot that holds nothing, and is locked.
func (l *Limiter) forget(b *bot) {
	b.forgotten = true
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.bots, b.name)
}

// decision describes the last state as it is now. The store read its clock before the
// state arrived, so that nobody who waits as long as this says is early.
func (b *bot) decision(now time.Time, admitted bool) Decision {
	d := Decision{Admitted: admitted}
	passed := max(now.Sub(b.learned), 0)
	for p := range b.state.Windows {
		w := &b.state.Windows[p]
		ends := max(w.End.Time().Sub(b.state.Now.Time())-passed, 0)
		d.Windows[p] = Window{Limit: w.Limit, Remaining: max(w.Limit-w.Used-w.Held-b.spent, 0), Ends: ends}
		if admitted || !w.Blocked {
			continue
		}
		wait := ends
		if w.Limit-w.Used >= b.refused { // shares of other replicas hold the rest, and end soon
			wait = min(ends, time.Second)
			d.Windows[p].Ends = wait
		}
		if wait >= d.RetryAfter {
			d.Period, d.RetryAfter = store.Period(p), wait
		}
	}
	return d
}

// Spent returns how many requests of a bot this replica has admitted that the store does
// not count yet, and when their share was granted.
func (l *Limiter) Spent(name Bot) (n int64, granted store.Time) {
	l.mu.Lock()
	b := l.bots[name]
	l.mu.Unlock()
	if b == nil {
		return 0, 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.share == nil {
		return 0, 0
	}
	return b.spent, b.share.GrantedAt
}

// Settle gives back what is left of shares that ended, with all also of those that did
// not. A hub calls it about once a second, and for all when it has answered its last
// request.
func (l *Limiter) Settle(ctx context.Context, all bool) error {
	l.mu.Lock()
	bots := make([]*bot, 0, len(l.bots))
	for _, b := range l.bots {
		bots = append(bots, b)
	}
	l.mu.Unlock()
	var failed error
	for _, b := range bots {
		failed = errors.Join(failed, l.settle(ctx, b, all))
	}
	return failed
}

func (l *Limiter) settle(ctx context.Context, b *bot, all bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	ended := !l.now().Before(b.expires)
	if b.asking != nil || !ended && !all {
		return nil
	}
	if b.share != nil {
		if err := l.ask(ctx, b, 0); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return nil // the bot was deleted
	}
	if ended {
		l.forget(b)
	}
	return nil
}
