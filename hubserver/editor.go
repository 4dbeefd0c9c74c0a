package hubserver

import (
	"net/http"
	"net/url"
	"strings"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// pageKeys is how many keys the Config tab lists without JavaScript.
const pageKeys = 200

// configPage shows the Config tab. Its script turns it into an editor; without
// JavaScript it lists the keys from ?after= that contain ?q=, a part at a time.
func (s *Server) configPage(c *call) error {
	view, project, err := c.projectPage("Config")
	if err != nil {
		return err
	}
	if view == nil {
		return c.absentProject()
	}
	_, settings, err := c.flatConfig()
	if isNotFound(err) { // it was deleted meanwhile
		return c.absentProject()
	}
	if err != nil {
		return err
	}
	q := c.r.URL.Query()
	shown := configTab(project, settings, q.Get("q"), q.Get("after"))
	if shown.Frame, _, err = c.frame(view, project); err != nil {
		return err
	}
	if shown.ReadsAPI, err = c.isReaderOf(view.APIAccount); err != nil {
		return err
	}
	if shown.HasSchema, err = c.hasSchema(view); err != nil {
		return err
	}
	body, err := shown.Render()
	return c.html(http.StatusOK, body, err)
}

// isReaderOf returns whether the caller may read the stacks and APIs of an account.
func (c *call) isReaderOf(account string) (bool, error) {
	role, err := c.roleOn(account)
	return rank(role) >= rank(wire.Reader), err
}

// hasSchema returns whether a project's stack has a schema of settings that the caller may read.
func (c *call) hasSchema(view *store.ProjectView) (bool, error) {
	may, err := c.isReaderOf(view.StackAccount)
	if err != nil || !may {
		return false, err
	}
	size, err := lookUp(c, func(v *store.View) (int64, error) {
		return v.SchemaSize(c.ctx(), refOf(view.StackAccount, view.StackSlug), c.s.toProject(view).ResolvedStackVersion)
	})
	return size > 0, err
}

func configTab(project page.Project, settings flat.Config, query, after string) page.Config {
	shown := page.Config{Project: project, Query: query}
	words := strings.Fields(strings.ToLower(query))
	last := ""
	for _, key := range settings.Keys() {
		value, _ := settings.Get(key)
		if !containsAll(strings.ToLower(key+"\n"+value), words) {
			continue
		}
		shown.Found++
		switch {
		case after != "" && key <= after:
		case len(shown.Settings) == pageKeys:
			shown.Next = "?" + url.Values{"q": {query}, "after": {last}}.Encode()
		default:
			last = key
			shown.Settings = append(shown.Settings, page.Setting{Key: key, Value: value, Edit: editURL(project.Ref, key)})
		}
	}
	return shown
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// editURL returns the address of the page that edits a key.
func editURL(project, key string) string {
	return "/" + project + "/edit?" + url.Values{"key": {key}}.Encode()
}

// flatConfig returns the config of the project that the path names, with what it contains.
func (c *call) flatConfig() (*store.Config, flat.Config, error) {
	if err := c.takeAtMost(viewing, 2*c.s.Limits.ConfigBytes); err != nil {
		return nil, flat.Config{}, err
	}
	config, err := c.config()
	if err != nil {
		return nil, flat.Config{}, err
	}
	if err := c.takeAtMost(viewing, 2*jsonMemory(config.Body)); err != nil {
		return nil, flat.Config{}, err
	}
	settings, err := flat.Parse(config.Body)
	return config, settings, err
}
