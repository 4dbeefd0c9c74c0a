package page

import (
	"errors"
	"net/http"
	"slices"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// maxVersions bounds the versions of a stack among which the Settings tab lets choose.
const maxVersions = 100

// settingsPage shows the Settings tab: what a project is bound to, and who may read it.
func settingsPage(c *request.Call, p *Project) error {
	shown := struct {
		*Project
		Versions []string // of the stack, newest first; none if the viewer may not read the stack
		Saved    bool
		IsAdmin  bool // the viewer may have the schema enforced
		KeptDays int  // for which a deleted project can be restored
	}{
		Project: p, Saved: c.R.URL.Query().Has("saved"), IsAdmin: c.Role() == wire.Admin,
		KeptDays: int(store.KeptDeleted.Hours() / 24),
	}
	if !p.CanWrite {
		return show(c, http.StatusOK, "settings", shown)
	}
	stack, err := accessTo(c, p.Stack.Account)
	if err != nil {
		return err
	}
	if stack.Role != "" {
		_, versions, err := c.View().Stack(p.Stack.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		shown.Versions = []string{wire.Latest}
		for _, version := range versions[:min(len(versions), maxVersions)] {
			shown.Versions = append(shown.Versions, version.Version)
		}
		if !slices.Contains(shown.Versions, p.StackVersion) {
			shown.Versions = append(shown.Versions, p.StackVersion)
		}
	}
	return show(c, http.StatusOK, "settings", shown)
}
