package hubserver

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/wire"
)

// route is one line of the table: what is called, what the caller needs, who answers.
type route struct {
	method, pattern string
	needs           needs
	handle          handler
}

// routes is the whole table.
func (s *Server) routes() []route {
	const (
		project  = "/v1/projects/:account/:slug"
		baseFile = project + "/preview/base-files"
		api      = "/v1/apis/:account/:slug"
		stack    = "/v1/stacks/:account/:slug"
		version  = stack + "/versions/:version"
	)
	var (
		configWriter  = needs{where: inPath, role: wire.Writer, scope: wire.ScopeWriteConfig}
		catalogWriter = needs{where: inPath, role: wire.Writer, scope: wire.ScopeWriteCatalog}
		remover       = needs{where: inPath, role: wire.Writer, scope: wire.ScopeAdminResource}
		reader        = needs{where: inPath, role: wire.Reader}
		publicReader  = needs{where: inPath, role: wire.Reader, public: true}
		token         = needs{where: nowhere}
		catalogInBody = needs{where: inBody, role: wire.Writer, scope: wire.ScopeWriteCatalog}
	)
	return []route{
		{"GET", "/v1/whoami", token, s.whoami},

		{"POST", "/v1/projects", catalogInBody, s.createProject},
		{"GET", "/v1/projects", token, s.listProjects},
		{"GET", project, publicReader, s.getProject},
		{"DELETE", project, remover, s.deleteProject},
		{"GET", project + "/config", publicReader, s.getConfig},
		{"PATCH", project + "/config", configWriter, s.patchConfig},
		{"PUT", project + "/client-config", configWriter, s.putConfig},
		{"GET", baseFile, publicReader, s.getBaseFiles},
		{"PUT", baseFile, configWriter, s.putBaseFiles},
		{"POST", baseFile + "/plan", configWriter, s.planBaseFiles},
		{"GET", baseFile + "/archive", publicReader, s.getArchive},

		{"POST", "/v1/apis/upload", needs{where: inQuery, role: wire.Writer, scope: wire.ScopeWriteCatalog}, s.uploadAPI},
		{"POST", "/v1/apis/import", catalogInBody, s.importAPI},
		{"GET", api, reader, s.getAPI},
		{"GET", api + "/document", reader, s.getDocument},

		{"GET", stack, reader, s.getStack},
		{"PUT", version, catalogWriter, s.putVersion},
		{"GET", version, reader, s.getVersion},
		{"GET", version + "/bundle", reader, s.getBundle},

		{"POST", "/v1/rate-limit", needs{where: inBot, role: wire.Writer, scope: wire.ScopeAdminResource}, s.setRateLimit},
		{"GET", "/v1/rate-limit", needs{where: inBot, role: wire.Reader}, s.getRateLimit},

		{"GET", "/healthz", needs{where: open}, s.healthz},
		{"GET", "/readyz", needs{where: open}, s.readyz},
		{"GET", "/v1/openapi.json", needs{where: open}, s.openAPI},

		{"GET", "/@:account/:slug", needs{where: open}, s.page},
		{"GET", "/static/*file", needs{where: open}, s.static},
	}
}

// register adds a route, and HEAD beside GET. A route that does not say what it
// needs is a mistake in the table.
func (s *Server) register(r route) {
	if err := r.needs.check(); err != nil {
		panic(fmt.Sprintf("%s %s: %v", r.method, r.pattern, err))
	}
	handle := func(w http.ResponseWriter, req *http.Request, params httprouter.Params) {
		s.serve(w, req, params, r.pattern, func(c *call) error {
			if err := c.admit(r.needs); err != nil {
				return err
			}
			return r.handle(c)
		})
	}
	s.router.Handle(r.method, r.pattern, handle)
	if r.method == http.MethodGet {
		s.router.Handle(http.MethodHead, r.pattern, handle)
	}
}

// Routes lists every method and pattern that the hub answers, for tests that
// hold the table against its description.
func (s *Server) Routes() []string {
	var all []string
	for _, r := range s.routes() {
		segments := strings.Split(r.pattern, "/")
		for i, part := range segments {
			if before, name, ok := strings.Cut(part, ":"); ok {
				segments[i] = before + "{" + name + "}"
			} else if name, ok := strings.CutPrefix(part, "*"); ok {
				segments[i] = "{" + name + "}"
			}
		}
		all = append(all, r.method+" "+strings.Join(segments, "/"))
	}
	return all
}
