package request

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/projecthub/hubclient/pat"
)

func (c *Call) log(took time.Duration) {
	attrs := append(make([]slog.Attr, 0, 11), // as many as there can be
		slog.String("request", c.ID), slog.String("method", c.R.Method), slog.String("route", c.route.pattern),
		slog.String("path", c.R.URL.Path), slog.String("address", c.Address()), slog.Int("status", c.W.status),
		slog.Int64("bytes", c.W.written), slog.Duration("took", took),
	)
	if c.cut {
		attrs = append(attrs, slog.Bool("cut", true))
	}
	if c.Access != nil {
		attrs = append(attrs, slog.String("user", c.Access.Name()), slog.String("token", c.shown()))
	}
	c.Hub.Log.LogAttrs(c.Ctx(), slog.LevelInfo, "request", attrs...)
}

// logFailure writes a line with the cause of a problem, unless it has none or the caller is gone.
func (c *Call) logFailure(p *Problem) {
	if p.cause == nil || c.Ctx().Err() != nil {
		return
	}
	level := slog.LevelInfo
	if p.Status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	c.Hub.Log.Log(c.Ctx(), level, "request failed",
		"request", c.ID, "route", c.route.pattern, "status", p.Status, "cause", p.cause.Error())
}

// tokenless is a log without whole tokens. Some callers send theirs where it does not belong, such as in a
// path.
type tokenless struct{ slog.Handler }

func (h tokenless) Handle(ctx context.Context, r slog.Record) error {
	attrs := slices.AppendSeq(make([]slog.Attr, 0, r.NumAttrs()), r.Attrs)
	clean := slog.NewRecord(r.Time, r.Level, pat.Redact(r.Message), r.PC)
	clean.AddAttrs(cleaned(attrs)...)
	return h.Handler.Handle(ctx, clean)
}

func (h tokenless) WithAttrs(attrs []slog.Attr) slog.Handler {
	return tokenless{h.Handler.WithAttrs(cleaned(slices.Clone(attrs)))}
}

func (h tokenless) WithGroup(name string) slog.Handler { return tokenless{h.Handler.WithGroup(name)} }

// maxLogged bounds a value in the log, which may be a caller's path, in bytes.
const maxLogged = 2 << 10

func cleaned(attrs []slog.Attr) []slog.Attr {
	for i, a := range attrs {
		if kind := a.Value.Kind(); kind != slog.KindString && kind != slog.KindAny { // no text
			continue
		}
		text := pat.Redact(a.Value.String())
		if len(text) > maxLogged && a.Key != "stack" {
			text = strings.ToValidUTF8(text[:maxLogged-len("…")], "") + "…"
		}
		attrs[i] = slog.String(a.Key, text)
	}
	return attrs
}
