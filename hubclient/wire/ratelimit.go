package wire

import "time"

// RateLimitConfig is the body of POST /v1/rate-limit, the specification's
// RateLimitConfigRequestDto: requests per calendar period. Nil is unlimited, 0 allows no request.
type RateLimitConfig struct {
	MinuteLimit *int64 `json:"minuteLimit,omitzero"`
	HourLimit   *int64 `json:"hourLimit,omitzero"`
	DayLimit    *int64 `json:"dayLimit,omitzero"`
	WeekLimit   *int64 `json:"weekLimit,omitzero"`
	MonthLimit  *int64 `json:"monthLimit,omitzero"`
	YearLimit   *int64 `json:"yearLimit,omitzero"`
}

// MaxLimit is the highest limit that can be set.
const MaxLimit = 1_000_000_000_000_000

// Bot names a bot within its account, by one or two opaque names.
type Bot struct {
	Account  string `json:"account"`
	BotID    string `json:"botId,omitzero"`
	BotRefID string `json:"botRefId,omitzero"`
}

// Bots is a page of the bots of an account.
type Bots struct {
	Bots       []Bot  `json:"bots"`
	NextCursor string `json:"nextCursor,omitzero"`
}

// CreateBotToken is the body of the request for a token of a bot.
type CreateBotToken struct {
	Name   string  `json:"name"`
	Scopes []Scope `json:"scopes,omitzero"` // none: the token can only read
	// such as 12h, 90d, 52w or never; "": 90d, or until the token of the request expires
	Lifetime string `json:"lifetime,omitzero"`
}

// BotToken is a token that was created. It is shown once.
type BotToken struct {
	Bot       string     `json:"bot"`
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Token     string     `json:"token"`
	Scopes    []Scope    `json:"scopes"`
	ExpiresAt *time.Time `json:"expiresAt"` // null: never
}

// DeletedBot is the response to the deletion of a bot. Existed is false if there was no bot.
type DeletedBot struct {
	Bot     string `json:"bot"`
	Existed bool   `json:"existed"`
	Revoked int    `json:"revoked"` // valid tokens that were revoked
}

// BotTokens are the valid tokens of a bot.
type BotTokens struct {
	Bot    string      `json:"bot"`
	Tokens []TokenInfo `json:"tokens"`
}

// RevokedBotToken is the response to the revocation of a token of a bot.
type RevokedBotToken struct {
	Bot  string `json:"bot"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// RateLimit is a bot's configuration, and what the bot has used of it.
type RateLimit struct {
	Bot      Bot             `json:"bot"`
	Limits   RateLimitConfig `json:"limits"`
	Revision string          `json:"revision"` // of the limits
	Usage    Usage           `json:"usage"`
	Created  bool            `json:"created,omitzero"` // the request was the first to name the bot
}

// Usage is what a bot has used of the present calendar periods, in UTC.
type Usage struct {
	Minute PeriodUsage `json:"minute"`
	Hour   PeriodUsage `json:"hour"`
	Day    PeriodUsage `json:"day"`
	Week   PeriodUsage `json:"week"`
	Month  PeriodUsage `json:"month"`
	Year   PeriodUsage `json:"year"`
}

// PeriodUsage is what a bot has used of one period.
type PeriodUsage struct {
	Limit    *int64    `json:"limit"` // null: unlimited
	Used     int64     `json:"used"`
	ResetsAt time.Time `json:"resetsAt"`
}

// MaxTake is the highest number of requests that can be counted at once.
const MaxTake = 1_000_000_000

// Taken is the response to requests of a bot that were admitted.
type Taken struct {
	Bot       Bot       `json:"bot"`
	Taken     int64     `json:"taken"`
	Remaining Remaining `json:"remaining"`
}

// Remaining is what is left of each period; null: unlimited. What other hubs hold of a
// limit for a moment is left out.
type Remaining struct {
	Minute *int64 `json:"minute"`
	Hour   *int64 `json:"hour"`
	Day    *int64 `json:"day"`
	Week   *int64 `json:"week"`
	Month  *int64 `json:"month"`
	Year   *int64 `json:"year"`
}
