package page

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/api"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// Settings is the tab with what a project is bound to, and who may read it.
type Settings struct {
	*Project
	Versions []string // of the stack, newest first; none if the viewer may not read the stack
	Saved    bool
	Refused  string // why the form was refused
	Field    string // the field that was refused
	IsAdmin  bool   // the viewer may have the schema enforced
	Form     SettingsForm
}

// SettingsForm is what the form of the tab holds.
type SettingsForm struct {
	Visibility, StackVersion, API string
	EnforceSchema                 bool
}

// settingsPage shows the Settings tab.
func settingsPage(c *request.Call, p *Project) error {
	return showSettings(c, http.StatusOK, Settings{
		Project: p, Saved: c.R.URL.Query().Has("saved"),
		Form: SettingsForm{p.Visibility, p.StackVersion, p.API.String(), p.EnforceSchema},
	})
}

// maxVersions bounds the versions of a stack among which the tab lets choose.
const maxVersions = 100

// showSettings completes shown, and responds with it.
func showSettings(c *request.Call, status int, shown Settings) error {
	if shown.CanWrite {
		shown.IsAdmin = c.Role() == wire.Admin
		role, err := roleOn(c, shown.Stack.Account)
		if err != nil {
			return err
		}
		if role != "" {
			_, versions, err := c.View().Stack(shown.Stack.ID)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			shown.Versions = []string{wire.Latest}
			for _, version := range versions[:min(len(versions), maxVersions)] {
				shown.Versions = append(shown.Versions, version.Version)
			}
			if chosen := shown.Form.StackVersion; !slices.Contains(shown.Versions, chosen) {
				shown.Versions = append(shown.Versions, chosen)
			}
		}
	}
	return show(c, status, "settings", shown)
}

// settingsForm changes the project as the form of the Settings tab says.
func settingsForm(c *request.Call, p *Project) error {
	form, err := c.ReadForm(maxForm)
	if err != nil {
		return err
	}
	edit := wire.EditProject{
		Visibility:   wire.Visibility(form.Get("visibility")),
		StackVersion: strings.TrimSpace(form.Get("stackVersion")),
	}
	enforce := form.Get("enforceSchema") == "on"
	if form.Has("schema") { // the form has the checkbox
		edit.EnforceSchema = &enforce
	}
	field := ""
	if text := strings.TrimSpace(form.Get("api")); text != "" {
		if edit.API, err = ref.Parse(text); err != nil {
			field, err = "api", request.InvalidBody("", "%v", err)
		}
	}
	if err == nil {
		_, err = api.Edit(c, &edit)
	}
	refused, ok := errors.AsType[*request.Problem](err)
	switch {
	case err == nil:
		return seeOther(c, "/"+p.Ref+"/settings?saved=1")
	case !ok || refused.Status != http.StatusUnprocessableEntity:
		return err
	case refused.Code == wire.CodeAPINotFound:
		field = "api"
	case field == "" && edit.StackVersion != "":
		field = "stackVersion"
	}
	return showSettings(c, refused.Status, Settings{
		Project: p, Refused: sentence(refused.Detail), Field: field,
		Form: SettingsForm{form.Get("visibility"), edit.StackVersion, form.Get("api"), enforce},
	})
}
