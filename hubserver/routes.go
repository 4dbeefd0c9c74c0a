package hubserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/wire"
)

// handlers returns the handler of each endpoint in [wire.Endpoints].
func (s *Server) handlers() map[wire.Op]handler {
	return map[wire.Op]handler{
		wire.OpWhoami: s.whoami,

		wire.OpCreateToken: s.createToken,
		wire.OpListTokens:  s.listTokens,
		wire.OpRevokeToken: s.revokeToken,

		wire.OpCreateProject:       s.createProject,
		wire.OpListProjects:        s.listProjects,
		wire.OpGetProject:          s.getProject,
		wire.OpEditProject:         s.editProject,
		wire.OpDeleteProject:       s.deleteProject,
		wire.OpRestoreProject:      s.restoreProject,
		wire.OpListDeleted:         s.listDeleted,
		wire.OpGetConfig:           s.getConfig,
		wire.OpGetConfigHistory:    s.getConfigHistory,
		wire.OpPatchConfig:         s.patchConfig,
		wire.OpPutConfig:           s.putConfig,
		wire.OpCheckConfig:         s.checkPut,
		wire.OpGetBaseFiles:        s.getBaseFiles,
		wire.OpPutBaseFiles:        s.putBaseFiles,
		wire.OpGetEvents:           s.getEvents,
		wire.OpGetBaseFilesHistory: s.getBaseFilesHistory,
		wire.OpRestoreBaseFiles:    s.restoreBaseFiles,
		wire.OpPlanBaseFiles:       s.planBaseFiles,
		wire.OpGetBaseFilesArchive: s.getArchive,
		wire.OpPreviewStack:        s.previewStack,
		wire.OpPreviewAPI:          s.previewAPI,

		wire.OpUploadAPI:   s.uploadAPI,
		wire.OpImportAPI:   s.importAPI,
		wire.OpListAPIs:    s.listAPIs,
		wire.OpGetAPI:      s.getAPI,
		wire.OpGetDocument: s.getDocument,
		wire.OpGetTargets:  s.getTargets,
		wire.OpPutDocument: s.putDocument,
		wire.OpDeleteAPI:   s.deleteAPI,

		wire.OpGetStack:          s.getStack,
		wire.OpPutVersion:        s.putVersion,
		wire.OpGetVersion:        s.getVersion,
		wire.OpGetSettingsSchema: s.getSettingsSchema,
		wire.OpGetBundle:         s.getBundle,

		wire.OpSetRateLimit:   s.setRateLimit,
		wire.OpGetRateLimit:   s.getRateLimit,
		wire.OpTakeRateLimit:  s.takeRateLimit,
		wire.OpListMembers:    s.listMembers,
		wire.OpSetMember:      s.setMember,
		wire.OpRemoveMember:   s.removeMember,
		wire.OpListBots:       s.listBots,
		wire.OpPutBot:         s.putBot,
		wire.OpDeleteBot:      s.deleteBot,
		wire.OpListBotTokens:  s.listBotTokens,
		wire.OpCreateBotToken: s.createBotToken,
		wire.OpRevokeBotToken: s.revokeBotToken,

		wire.OpHealth:  s.healthz,
		wire.OpReady:   s.readyz,
		wire.OpOpenAPI: s.openAPI,

		wire.OpGetFileSchema: s.getFileSchema,

		wire.OpHomePage:         s.homePage,
		wire.OpAccountPage:      s.accountPage,
		wire.OpEditPage:         s.editPage,
		wire.OpEditForm:         s.editForm,
		wire.OpConfigPage:       s.configPage,
		wire.OpPreviewPage:      s.previewPage,
		wire.OpFilesPage:        s.filesPage,
		wire.OpFilePage:         s.filesPage,
		wire.OpHistoryPage:      s.historyPage,
		wire.OpHistoryForm:      s.historyForm,
		wire.OpSettingsPage:     s.settingsPage,
		wire.OpSettingsForm:     s.settingsForm,
		wire.OpStatic:           s.static,
		wire.OpCreateLink:       s.createLink,
		wire.OpCreateInvitation: s.createInvitation,
		wire.OpLinkPage:         s.linkPage,
		wire.OpUseLink:          s.useLink,
		wire.OpStartDevice:      s.startDevice,
		wire.OpDeviceToken:      s.deviceToken,
		wire.OpCancelDevice:     s.cancelDevice,
		wire.OpDevicePage:       s.devicePage,
		wire.OpDecideDevice:     s.decideDevice,
		wire.OpTokensPage:       s.tokensPage,
		wire.OpTokenForm:        s.tokenForm,
		wire.OpRevokeForm:       s.revokeForm,
		wire.OpEndSession:       s.endSession,
		wire.OpSignInPage:       s.signInPage,
		wire.OpSignIn:           s.signIn,
		wire.OpSignOut:          s.signOut,
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
			c.op, c.page = e.Op, slices.Equal(e.Returns, wire.HTML)
			if err := s.origins.Check(req); err != nil {
				return crossSite(err)
			}
			if err := c.admit(e); err != nil {
				return err
			}
			return h(c)
		})
	}
	s.router.Handle(e.Method, pattern, handle)
	s.measures.add(e.Method, pattern)
	if e.Method == http.MethodGet {
		s.measures.add(http.MethodHead, pattern)
		s.router.Handle(http.MethodHead, pattern, handle)
	}
}
