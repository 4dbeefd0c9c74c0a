package hubserver

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// maxVersions bounds the versions among which the Settings tab lets choose.
const maxVersions = 100

// settingsPage shows the Settings tab.
func (s *Server) settingsPage(c *call) error {
	view, project, err := c.projectPage("Settings")
	if err != nil {
		return err
	}
	if view == nil {
		return c.absentProject()
	}
	shown := page.Settings{Project: project, Saved: c.r.URL.Query().Has("saved")}
	shown.Form = page.SettingsForm{Visibility: project.Visibility, StackVersion: project.Version, API: project.API, EnforceSchema: view.EnforceSchema}
	return c.settings(http.StatusOK, view, shown)
}

// settings responds with the Settings tab.
func (c *call) settings(status int, view *store.ProjectView, shown page.Settings) (err error) {
	if shown.CanWrite {
		role, err := c.roleOnProject()
		if err != nil {
			return err
		}
		shown.IsAdmin = role == wire.Admin
		if shown.Versions, err = c.versions(view, shown.Form.StackVersion); err != nil {
			return err
		}
	}
	body, err := shown.Render()
	return c.html(status, body, err)
}

// versions returns what the project may be bound to, with what the form holds; none if
// the caller may not read the stack.
func (c *call) versions(view *store.ProjectView, chosen string) ([]string, error) {
	role, err := c.roleOn(view.StackAccount)
	if err != nil || rank(role) < rank(wire.Reader) {
		return nil, err
	}
	all := []string{wire.Latest}
	err = c.s.Store.Read(c.ctx(), func(v *store.View) error {
		_, versions, err := v.Stack(c.ctx(), refOf(view.StackAccount, view.StackSlug))
		for _, version := range versions[:min(len(versions), maxVersions)] {
			all = append(all, version.Version)
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if !slices.Contains(all, chosen) {
		all = append(all, chosen)
	}
	return all, err
}

// settingsForm changes the project as the form of the Settings tab says.
func (s *Server) settingsForm(c *call) error {
	form, err := c.form()
	if err != nil {
		return err
	}
	view, project, err := c.projectPage("Settings")
	if err != nil {
		return err
	}
	if view == nil {
		return c.absentProject()
	}
	edit := wire.EditProject{Visibility: wire.Visibility(form.Get("visibility")), StackVersion: strings.TrimSpace(form.Get("stackVersion"))}
	enforce := form.Get("enforceSchema") == "on"
	if form.Has("schema") { // without a checkbox, nothing was said about it
		edit.EnforceSchema = &enforce
	}
	field := ""
	if text := strings.TrimSpace(form.Get("api")); text != "" {
		if edit.API, err = ref.Parse(text); err != nil {
			field, err = "api", invalidBody("", "%v", err)
		}
	}
	if err == nil {
		if _, err = c.applyEdit(&edit); err == nil {
			return c.seeOther("/" + project.Ref + "/settings?saved=1")
		}
	}
	var refused *problem
	if !errors.As(err, &refused) || refused.Status != http.StatusUnprocessableEntity {
		return err
	}
	switch {
	case refused.Code == wire.CodeAPINotFound:
		field = "api"
	case field == "" && edit.StackVersion != "":
		field = "stackVersion"
	}
	shown := page.Settings{Project: project, Refused: sentence(refused.Detail), Field: field}
	shown.Form = page.SettingsForm{Visibility: form.Get("visibility"), StackVersion: edit.StackVersion, API: form.Get("api"), EnforceSchema: enforce}
	return c.settings(http.StatusUnprocessableEntity, view, shown)
}
