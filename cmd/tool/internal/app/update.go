package app

import (
	"strings"
	"time"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/hubclient/version"
)

// newerHub is a hub of a later release than this program.
type newerHub struct{ origin, version string }

// wantsNotices reports whether a person reads that there is a later release.
func (a *App) wantsNotices() bool {
	return a.watched() && a.Getenv("TOOL_NO_UPDATE_NOTICE") != "1"
}

// noteVersion remembers the version of a hub that answered, if it is a later release than this
// program, which must be of a release itself.
func (a *App) noteVersion(origin, hub string) {
	own := cmdline.Version(Version)
	isDevelopment := strings.HasPrefix(own, "0.0.0-") || !version.Valid(own)
	isRelease := version.Valid(hub) && !version.IsPrerelease(hub)
	if !isDevelopment && isRelease && version.Compare(own, hub) < 0 {
		a.newer.Store(&newerHub{origin, hub})
	}
}

// noticeUpdate says, once a day and hub, that the hub is of a later release.
func (a *App) noticeUpdate() {
	newer := a.newer.Swap(nil)
	if newer == nil {
		return
	}
	if state.Due(string(a.State()), state.NameOf("update "+newer.origin), 24*time.Hour) {
		a.Diagnose("note: %s is of release %s, and this is tool %s; "+
			"to update it: go install example.com/projecthub/cmd/tool@v%s",
			newer.origin, newer.version, cmdline.Version(Version), newer.version)
	}
}
