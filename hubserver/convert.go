package hubserver

import (
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
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

func (s *Server) toProject(v *store.ProjectView) wire.Project {
	p := wire.Project{
		Project:              refOf(v.Account, v.Slug),
		Stack:                v.StackAccount + "/" + v.StackSlug,
		StackVersion:         v.StackVersion,
		ResolvedStackVersion: v.StackVersion,
		API:                  refOf(v.APIAccount, v.APISlug),
		Visibility:           wire.Visibility(v.Visibility),
		URL:                  s.pageURL(refOf(v.Account, v.Slug)),
		CreatedAt:            v.CreatedAt.Time(),
		CreatedBy:            v.CreatedBy,
		Config:               toConfigState(v.Config),
	}
	if v.StackVersion == wire.Latest {
		p.ResolvedStackVersion = v.StackLatest
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
	}
}

func toStackVersion(v *store.StackVersion) wire.StackVersion {
	return wire.StackVersion{
		Stack: v.Account + "/" + v.Slug, Version: v.Version, Digest: v.Digest,
		SizeBytes: v.SizeBytes, FileCount: v.FileCount,
		PublishedAt: v.PublishedAt.Time(), PublishedBy: v.PublishedBy,
	}
}

func toLimits(r *store.RateLimit) wire.RateLimitConfig {
	return wire.RateLimitConfig{
		MinuteLimit: r.MinuteLimit, HourLimit: r.HourLimit, DayLimit: r.DayLimit,
		WeekLimit: r.WeekLimit, MonthLimit: r.MonthLimit, YearLimit: r.YearLimit,
	}
}
