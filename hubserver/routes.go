package hubserver

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/wire"
)

// handlers returns the handler of each endpoint in [wire.Endpoints].
func (s *Server) handlers() map[wire.Op]handler {
	return map[wire.Op]handler{
		wire.OpWhoami: s.whoami,

		wire.OpCreateProject:       s.createProject,
		wire.OpListProjects:        s.listProjects,
		wire.OpGetProject:          s.getProject,
		wire.OpDeleteProject:       s.deleteProject,
		wire.OpGetConfig:           s.getConfig,
		wire.OpPatchConfig:         s.patchConfig,
		wire.OpPutConfig:           s.putConfig,
		wire.OpGetBaseFiles:        s.getBaseFiles,
		wire.OpPutBaseFiles:        s.putBaseFiles,
		wire.OpPlanBaseFiles:       s.planBaseFiles,
		wire.OpGetBaseFilesArchive: s.getArchive,

		wire.OpUploadAPI:   s.uploadAPI,
		wire.OpImportAPI:   s.importAPI,
		wire.OpListAPIs:    s.listAPIs,
		wire.OpGetAPI:      s.getAPI,
		wire.OpGetDocument: s.getDocument,

		wire.OpGetStack:   s.getStack,
		wire.OpPutVersion: s.putVersion,
		wire.OpGetVersion: s.getVersion,
		wire.OpGetBundle:  s.getBundle,

		wire.OpSetRateLimit: s.setRateLimit,
		wire.OpGetRateLimit: s.getRateLimit,

		wire.OpHealth:  s.healthz,
		wire.OpReady:   s.readyz,
		wire.OpOpenAPI: s.openAPI,
		wire.OpPage:    s.page,
		wire.OpStatic:  s.static,
	}
}

// registerAll adds each endpoint with its handler to the router. It panics if the
// endpoints and the handlers do not match: that is a mistake in the program.
func (s *Server) registerAll(endpoints []wire.Endpoint, handlers map[wire.Op]handler) {
	for i := range endpoints {
		e := &endpoints[i]
		if err := checkEndpoint(e); err != nil {
			panic(fmt.Sprintf("%s %s: %v", e.Method, e.Path, err))
		}
		h := handlers[e.Op]
		if h == nil {
			panic(fmt.Sprintf("%s %s has no handler", e.Method, e.Path))
		}
		s.register(e, h)
	}
	if len(handlers) != len(endpoints) {
		panic(fmt.Sprintf("%d handlers for %d endpoints", len(handlers), len(endpoints)))
	}
}

// register adds an endpoint to the router, and HEAD where the method is GET.
func (s *Server) register(e *wire.Endpoint, h handler) {
	pattern := strings.NewReplacer("{file}", "*file", "{", ":", "}", "").Replace(e.Path)
	handle := func(w http.ResponseWriter, req *http.Request, params httprouter.Params) {
		s.serve(w, req, params, pattern, func(c *call) error {
			if err := c.admit(e); err != nil {
				return err
			}
			return h(c)
		})
	}
	s.router.Handle(e.Method, pattern, handle)
	if e.Method == http.MethodGet {
		s.router.Handle(http.MethodHead, pattern, handle)
	}
}
