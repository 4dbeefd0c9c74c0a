package hubclient

import (
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// check returns what is wrong with a response that was decoded into v, to a request
// about a project; "" if nothing is. A missing member decodes as zero, and a proxy may
// answer with the response to another request.
func check(v any, about ref.Ref) string {
	named := about
	switch v := v.(type) {
	case *wire.Whoami:
		if v.Name() == "" {
			return "it names no user or bot"
		}
	case *wire.Description:
		if v.Info.Limits.ConfigBytes <= 0 {
			return "it publishes no limits"
		}
	case *wire.Project:
		named = v.Project
	case *wire.Deleted:
		named = v.Project
	case *wire.Config:
		named = v.Project
		if !tree.ValidDigest(v.Revision) { // becomes a header of the next request
			return "its config has no revision"
		}
	case *wire.ConfigWritten:
		named = v.Project
		if !tree.ValidDigest(v.Revision) {
			return "its config has no revision"
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
	case *wire.Stack:
		if len(v.Versions) == 0 {
			return "its stack has no version"
		}
	case *wire.StackVersion:
		if v.Version == "" {
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
	case *wire.Published:
		if v.Version == "" {
			return "it names no version"
		}
	}
	if named != about {
		return "it describes another project"
	}
	return ""
}
