package hubclient

import (
	"slices"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
)

// areVersions reports whether each is a version, latest, or absent.
func areVersions(all ...string) bool {
	return !slices.ContainsFunc(all, func(v string) bool { return v != "" && v != wire.Latest && !version.Valid(v) })
}

// check returns what is wrong with a response that was decoded into v, to a request
// about a project; "" if nothing is. A missing member decodes as zero, and a proxy may
// answer with the response to another request. What becomes a word of a command that is
// printed has to be valid.
func check(v any, about ref.Ref) string {
	named := about
	switch v := v.(type) {
	case *wire.Whoami:
		if _, err := ref.Parse(v.Name()); err != nil && !ref.ValidName(v.Name()) {
			return "it names no user or bot"
		}
	case *wire.Description:
		if v.Info.Limits.ConfigBytes <= 0 {
			return "it publishes no limits"
		}
	case *wire.Project:
		named = v.Project
		if !areVersions(v.StackVersion, v.ResolvedStackVersion, v.UseStackVersion) {
			return "it names an invalid version"
		}
	case *wire.Deleted:
		named = v.Project
	case *wire.Restored:
		named = v.Project
	case *wire.Config:
		named = v.Project
		if !tree.ValidDigest(v.Revision) { // becomes a header of the next request
			return "its config has no revision"
		}
	case *wire.ConfigWritten:
		named = v.Project
		if !tree.ValidDigest(v.Revision) || v.Replaced != nil && !tree.ValidDigest(v.Replaced.Revision) {
			return "its config has no revision"
		}
		if !areVersions(v.StackVersion, v.UseStackVersion) {
			return "it names an invalid version"
		}
	case *wire.BaseFiles:
		if files, err := tree.New(v.Files); err != nil || files.Digest() != v.Tree {
			return "its list of base files does not match its digest"
		}
	case *wire.BaseFilesWritten:
		named = v.Project
	case *wire.API:
		if v.API.IsZero() {
			return "it names no API"
		}
	case *wire.DeletedAPI:
		named = v.API
	case *wire.Stack:
		if len(v.Versions) == 0 {
			return "its stack has no version"
		}
		isInvalid := func(v wire.StackVersion) bool { return !version.Valid(v.Version) }
		if !areVersions(v.Latest) || slices.ContainsFunc(v.Versions, isInvalid) {
			return "it names an invalid version"
		}
	case *wire.StackVersion:
		if !version.Valid(v.Version) {
			return "it names no version"
		}
	case *wire.Status:
		if v.Status == "" {
			return "it has no status"
		}
	case *wire.RateLimit:
		if v.Bot.BotID == "" && v.Bot.BotRefID == "" {
			return "it names no bot"
		}
	case *wire.Bot:
		if v.BotRefID != about.String() {
			return "it describes another bot"
		}
		named = about
	case *wire.Member:
		if v.User == "" || v.Role == "" {
			return "it names no member"
		}
	case *wire.RemovedMember:
		if v.User == "" {
			return "it names no user"
		}
	case *wire.CreatedToken:
		if v.Token == "" {
			return "it has no token"
		}
	case *wire.RevokedToken:
		if v.ID == "" {
			return "it names no token"
		}
	case *wire.BotToken:
		if v.Token == "" || v.Bot != about.String() {
			return "it has no token of the bot"
		}
		named = about
	case *wire.BotTokens:
		if v.Bot != about.String() {
			return "it lists tokens of another bot"
		}
		named = about
	case *wire.RevokedBotToken:
		if v.Bot != about.String() || v.ID == "" {
			return "it names no token of the bot"
		}
		named = about
	case *wire.DeletedBot:
		if v.Bot != about.String() {
			return "it names another bot"
		}
		named = about
	case *wire.Taken:
		if v.Taken < 1 {
			return "it counted nothing"
		}
	case *wire.Link:
		if v.URL == "" {
			return "it has no link"
		}
	case *wire.Device:
		if v.DeviceCode == "" || v.UserCode == "" || v.VerificationURI == "" {
			return "it has no code to log in with"
		}
	case *wire.DeviceToken:
		if v.Token == "" {
			return "it has no token"
		}
	case *wire.ConfigHistory:
		for _, e := range v.Entries {
			if !tree.ValidDigest(e.Revision) {
				return "an entry of its history has no revision"
			}
		}
	case *wire.BaseFilesHistory:
		for _, e := range v.Entries {
			if !tree.ValidDigest(e.Tree) {
				return "an entry of its history has no digest"
			}
		}
	case *wire.Published:
		if !version.Valid(v.Version) {
			return "it names no version"
		}
	}
	if named != about {
		return "it describes another project"
	}
	return ""
}
