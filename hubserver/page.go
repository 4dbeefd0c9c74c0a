package hubserver

import (
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/dustin/go-humanize"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// page shows a public project. Everything else gets one page, the same for a
// private and for an absent project.
func (s *Server) page(c *call) error {
	r, err := c.pathRef()
	if err != nil {
		return c.absentPage("")
	}
	if err := c.takeAtMost(viewing, 2*s.Limits.ConfigBytes); err != nil {
		return err
	}
	var project *store.ProjectView
	var config *store.Config
	err = s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		if project, err = v.Project(c.ctx(), r); err != nil || !project.IsPublic() {
			return err
		}
		config, err = v.Config(c.ctx(), r)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if config == nil {
		return c.absentPage(r.String())
	}
	if err := c.takeAtMost(viewing, 2*jsonMemory(config.Body)); err != nil {
		return err
	}
	shown, err := s.pageOf(project, config)
	if err != nil {
		return err
	}
	body, err := shown.Render()
	return c.html(http.StatusOK, body, err)
}

func (s *Server) pageOf(view *store.ProjectView, config *store.Config) (page.Project, error) {
	p := s.toProject(view)
	shown := page.Project{
		Ref: p.Project.String(), Origin: s.PublicURL,
		Stack: "@" + p.Stack, Version: p.StackVersion, Resolved: p.ResolvedStackVersion,
		API: p.API.String(), Visibility: string(p.Visibility), CreatedBy: p.CreatedBy, CreatedAt: p.CreatedAt,
		UpdatedBy: config.UpdatedBy, UpdatedVia: config.UpdatedVia, UpdatedAt: config.UpdatedAt.Time(),
	}
	if p.BaseFiles != nil {
		shown.HasFiles, shown.FileCount = true, p.BaseFiles.Count
		shown.FileBytes, shown.Tree = humanize.IBytes(uint64(p.BaseFiles.Bytes)), p.BaseFiles.Tree
	}
	settings, err := flat.Parse(config.Body)
	for _, key := range settings.Keys() {
		value, _ := settings.Get(key)
		shown.Config = append(shown.Config, page.Setting{Key: key, Value: value})
	}
	return shown, err
}

func (c *call) absentPage(ref string) error {
	body, err := page.Absent(ref, c.s.PublicURL)
	return c.html(http.StatusNotFound, body, err)
}

func (c *call) html(status int, body []byte, err error) error {
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Security-Policy", page.Policy)
	c.w.Header().Set("Referrer-Policy", "same-origin")
	return c.bytes(status, "text/html; charset=utf-8", body)
}

// static serves the files that pages refer to.
func (s *Server) static(c *call) error {
	name := strings.TrimPrefix(c.params.ByName("file"), "/")
	file, err := fs.ReadFile(page.Static(), name)
	if err != nil {
		return notFound("file " + c.r.URL.Path)
	}
	c.w.Header().Set("Cache-Control", "public, max-age=3600")
	c.w.Header().Set("Content-Security-Policy", page.Policy)
	return c.write(http.StatusOK, mime.TypeByExtension(path.Ext(name)), file)
}
