package hubserver

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/ratelimit"
	"example.com/projecthub/store"
)

// This file is the only place where a row becomes a wire shape. Refs in rows were
// checked when they were written.

func refOf(account, slug string) ref.Ref {
	r, _ := ref.New(account, slug)
	return r
}

func toEdit(c store.ConfigState) wire.Edit {
	return wire.Edit{
		Revision:   c.Revision,
		UpdatedAt:  c.UpdatedAt.Time(),
		UpdatedBy:  c.UpdatedBy,
		UpdatedVia: wire.Via(c.UpdatedVia),
	}
}

func toConfigState(c store.ConfigState) wire.ConfigState {
	return wire.ConfigState{Edit: toEdit(c), HasConfig: c.HasConfig}
}

func toConfig(c *store.Config) wire.Config {
	return wire.Config{
		Project:     refOf(c.Account, c.Slug),
		Config:      jsontext.Value(c.Body),
		ConfigState: toConfigState(c.ConfigState),
	}
}

func toConfigEntry(e *store.ConfigEntry) wire.ConfigEntry {
	return wire.ConfigEntry{
		Edit: toEdit(e.ConfigState), Parent: e.Parent, TokenName: e.TokenName, RequestID: e.RequestID,
		Added: e.Added, Changed: e.Changed, Removed: e.Removed,
	}
}

func toBaseFilesEntry(e *store.FilesEntry) wire.BaseFilesEntry {
	return wire.BaseFilesEntry{
		BaseFilesSum: toBaseFilesSum(e.BaseFilesState), Parent: e.Parent,
		UpdatedAt: e.UpdatedAt.Time(), UpdatedBy: e.UpdatedBy, UpdatedVia: wire.Via(e.UpdatedVia),
		TokenName: e.TokenName, RequestID: e.RequestID, Added: e.Added, Changed: e.Changed, Removed: e.Removed,
	}
}

func (s *Server) toProject(v *store.ProjectView) wire.Project {
	p := wire.Project{
		Project:              refOf(v.Account, v.Slug),
		Stack:                v.StackAccount + "/" + v.StackSlug,
		StackVersion:         v.StackVersion,
		ResolvedStackVersion: v.StackVersion,
		API:                  refOf(v.APIAccount, v.APISlug),
		Visibility:           wire.Visibility(v.Visibility),
		PublicPreview:        v.PublicPreview,
		EnforceSchema:        v.EnforceSchema,
		URL:                  s.pageURL(refOf(v.Account, v.Slug)),
		CreatedAt:            v.CreatedAt.Time(),
		CreatedBy:            v.CreatedBy,
		ExpiresAt:            v.ExpiresAt.Time(),
		Config:               toConfigState(v.Config),
	}
	if v.StackVersion == wire.Latest {
		p.ResolvedStackVersion = v.StackLatest
	}
	if v.Withdrawn {
		p.UseStackVersion = v.StackLatest
	}
	if v.BaseFiles.Tree != "" {
		sum := toBaseFilesSum(v.BaseFiles)
		p.BaseFiles = &sum
	}
	return p
}

func (s *Server) pageURL(r ref.Ref) string { return s.PublicURL + "/" + r.String() }

func toBaseFilesSum(b store.BaseFilesState) wire.BaseFilesSum {
	return wire.BaseFilesSum{Tree: b.Tree, Count: b.Count, Bytes: b.Bytes}
}

func toAPI(a *store.API) wire.API {
	return wire.API{
		API: refOf(a.Account, a.Slug), Title: a.Title, Version: a.Version, Format: a.Format,
		SHA256: a.SHA256, CreatedAt: a.CreatedAt.Time(), CreatedBy: a.CreatedBy,
		UpdatedAt: a.UpdatedAt.Time(), UpdatedBy: a.UpdatedBy,
	}
}

// withFindings is toAPI with the findings in its description.
func withFindings(a *store.API, findings []wire.Finding) wire.API {
	api := toAPI(a)
	api.Findings = findings
	if findings == nil {
		api.Findings = []wire.Finding{} // nil is: not asked
	}
	return api
}

func toStackVersion(v *store.StackVersion) wire.StackVersion {
	return wire.StackVersion{
		Stack: v.Account + "/" + v.Slug, Version: v.Version, Digest: v.Digest,
		SizeBytes: v.SizeBytes, FileCount: v.FileCount,
		PublishedAt: v.PublishedAt.Time(), PublishedBy: v.PublishedBy, WithdrawnAt: v.WithdrawnAt.Time(),
	}
}

func toLimits(r *store.RateLimit) wire.RateLimitConfig {
	return wire.RateLimitConfig{
		MinuteLimit: r.MinuteLimit, HourLimit: r.HourLimit, DayLimit: r.DayLimit,
		WeekLimit: r.WeekLimit, MonthLimit: r.MonthLimit, YearLimit: r.YearLimit,
	}
}

func toBot(r *store.RateLimit) wire.Bot {
	return wire.Bot{Account: r.Account, BotID: r.BotID, BotRefID: r.BotRefID}
}

func toTokenInfo(t *store.Token) wire.TokenInfo {
	return wire.TokenInfo{
		ID: t.ID(), Name: t.Name, Shown: t.Shown, Scopes: toScopes(t), CreatedAt: t.CreatedAt.Time(),
		ExpiresAt: orNever(t.ExpiresAt), LastUsedAt: orNever(t.LastUsedAt), Bot: t.BotRefID, Restriction: toRestriction(t.Restriction),
	}
}

func toRestriction(r store.Restriction) wire.Restriction {
	if r.OnlySlug == "" {
		return wire.Restriction{Account: r.OnlyAccount}
	}
	return wire.Restriction{Project: refOf(r.OnlyAccount, r.OnlySlug)}
}

func toScopes(t *store.Token) []wire.Scope {
	scopes := []wire.Scope{}
	for _, scope := range t.ScopeList() {
		scopes = append(scopes, wire.Scope(scope))
	}
	return scopes
}

// orNever returns nil for a time that is not set.
func orNever(t store.Time) *time.Time {
	if t == 0 {
		return nil
	}
	at := t.Time()
	return &at
}

func toUsage(windows [store.Periods]store.RateWindow) wire.Usage {
	var all [store.Periods]wire.PeriodUsage
	for p, w := range windows {
		all[p] = wire.PeriodUsage{Limit: limited(w.Limit, w.Limit), Used: w.Used, ResetsAt: w.End.Time()}
	}
	return wire.Usage{Minute: all[0], Hour: all[1], Day: all[2], Week: all[3], Month: all[4], Year: all[5]}
}

func toRemaining(windows [store.Periods]ratelimit.Window) wire.Remaining {
	var all [store.Periods]*int64
	for p, w := range windows {
		all[p] = limited(w.Limit, w.Remaining)
	}
	return wire.Remaining{Minute: all[0], Hour: all[1], Day: all[2], Week: all[3], Month: all[4], Year: all[5]}
}

// limited returns n for a limit that is one.
func limited(limit, n int64) *int64 {
	if limit < 0 {
		return nil
	}
	return &n
}
