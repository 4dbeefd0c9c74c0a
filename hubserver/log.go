package hubserver

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"example.com/projecthub/hubclient/pat"
)

// logRequest leaves the one line that every request does. cut says that the
// answer had begun when it failed.
func (s *Server) logRequest(c *call, pattern string, cut bool, took time.Duration) {
	attrs := append(make([]slog.Attr, 0, 11), // as many as there can be
		slog.String("request", c.id), slog.String("method", c.r.Method), slog.String("route", pattern),
		slog.String("path", c.r.URL.Path), slog.String("address", c.address()), slog.Int("status", c.w.status),
		slog.Int64("bytes", c.w.written), slog.Duration("took", took),
	)
	if cut {
		attrs = append(attrs, slog.Bool("cut", true))
	}
	if c.who != nil {
		attrs = append(attrs, slog.String("user", c.who.user), slog.String("token", c.who.shown()))
	}
	s.Log.LogAttrs(c.ctx(), slog.LevelInfo, "request", attrs...)
}

// tokenless is a log that contains no whole token: callers put theirs in paths
// and addresses, where they do not belong.
type tokenless struct{ slog.Handler }

func (h tokenless) Handle(ctx context.Context, r slog.Record) error {
	isClean := withoutTokens(r.Message) == r.Message
	r.Attrs(func(a slog.Attr) bool {
		_, same := cleanAttr(a)
		isClean = isClean && same
		return isClean
	})
	if isClean { // as nearly all are
		return h.Handler.Handle(ctx, r)
	}
	clean := slog.NewRecord(r.Time, r.Level, withoutTokens(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		a, _ = cleanAttr(a)
		clean.AddAttrs(a)
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

func (h tokenless) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i], _ = cleanAttr(a)
	}
	return tokenless{h.Handler.WithAttrs(clean)}
}

func (h tokenless) WithGroup(name string) slog.Handler { return tokenless{h.Handler.WithGroup(name)} }

// cleanAttr also reports whether a is clean already.
func cleanAttr(a slog.Attr) (clean slog.Attr, same bool) {
	switch a.Value.Kind() {
	case slog.KindString, slog.KindAny: // what else there is holds no text of a caller's
		text := withoutTokens(a.Value.String())
		if a.Key != "stack" {
			text = clip(text)
		}
		return slog.String(a.Key, text), a.Value.Kind() == slog.KindString && text == a.Value.String()
	}
	return a, true
}

// maxLogged bounds a value in the log, which may be a caller's path, in bytes.
const maxLogged = 2 << 10

func clip(text string) string {
	if len(text) <= maxLogged {
		return text
	}
	const mark = "…"
	return strings.ToValidUTF8(text[:maxLogged-len(mark)], "") + mark
}

// withoutTokens cuts every token in s down to the part that may be shown.
func withoutTokens(s string) string {
	if pat.Index([]byte(s)) < 0 {
		return s
	}
	rest := []byte(s)
	var clean []byte
	for {
		i := pat.Index(rest)
		if i < 0 {
			return string(append(clean, rest...))
		}
		token := string(rest[i : i+pat.Length])
		clean = append(append(clean, rest[:i]...), pat.Shown(token)+"…"...)
		rest = rest[i+pat.Length:]
	}
}
