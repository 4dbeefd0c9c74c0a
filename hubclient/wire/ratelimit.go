package wire

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

// RateLimit is a bot's configuration.
type RateLimit struct {
	Bot    Bot             `json:"bot"`
	Limits RateLimitConfig `json:"limits"`
}
