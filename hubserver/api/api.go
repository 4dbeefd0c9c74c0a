// Package api has the handlers of the hub's JSON API, one file for each resource. A handler reads from top to
// bottom: load, check, act, answer. Package request has done what all calls have in common before a handler
// runs: the caller is known, and has the role and the scope that the endpoint needs.
//
// This package alone turns rows of the store into the types of package wire, by functions such as toProject. It
// must not know pages, SQL, or how a call is authenticated.
package api

import (
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
)

// Routes returns the endpoints of the API with their handlers; w are the streams of events.
func Routes(w *Watches) []request.Route {
	return []request.Route{
		{Op: wire.OpWhoami, Handle: whoami},
		{Op: wire.OpListMembers, Handle: listMembers},
		{Op: wire.OpSetMember, Handle: withBody(setMember)},
		{Op: wire.OpRemoveMember, Handle: removeMember},
		{Op: wire.OpCreateToken, Handle: withBody(createToken)},
		{Op: wire.OpListTokens, Handle: listTokens},
		{Op: wire.OpRevokeToken, Handle: revokeToken},
		{Op: wire.OpEndSession, Handle: endSession},
		{Op: wire.OpListBots, Handle: listBots},
		{Op: wire.OpPutBot, Handle: putBot},
		{Op: wire.OpDeleteBot, Handle: deleteBot},
		{Op: wire.OpCreateBotToken, Handle: withBody(createBotToken)},
		{Op: wire.OpListBotTokens, Handle: listBotTokens},
		{Op: wire.OpRevokeBotToken, Handle: revokeBotToken},
		{Op: wire.OpSetRateLimit, Handle: withBody(setRateLimit)},
		{Op: wire.OpGetRateLimit, Handle: getRateLimit},
		{Op: wire.OpTakeRateLimit, Handle: takeRateLimit},
		{Op: wire.OpCreateLink, Handle: withBody(createLink)},
		{Op: wire.OpCreateInvitation, Handle: withBody(createInvitation)},
		{Op: wire.OpStartDevice, Handle: withBody(startDevice)},
		{Op: wire.OpDeviceToken, Handle: withBody(deviceToken)},

		{Op: wire.OpCreateProject, Handle: withBody(createProject)},
		{Op: wire.OpListProjects, Handle: listProjects},
		{Op: wire.OpGetProject, Handle: withResource(getProject)},
		{Op: wire.OpEditProject, Handle: withResource(withBody(editProject))},
		{Op: wire.OpDeleteProject, Handle: deleteProject},
		{Op: wire.OpRestoreProject, Handle: restoreProject},
		{Op: wire.OpListDeleted, Handle: listDeleted},
		{Op: wire.OpGetEvents, Handle: withResource(w.getEvents)},
		{Op: wire.OpPutPresence, Handle: withResource(withBody(w.putPresence))},
		{Op: wire.OpPreviewStack, Handle: withResource(previewStack)},
		{Op: wire.OpPreviewAPI, Handle: withResource(previewAPI)},

		{Op: wire.OpGetConfig, Handle: withResource(getConfig)},
		{Op: wire.OpPutConfig, Handle: putConfig},
		{Op: wire.OpCheckConfig, Handle: checkConfig},
		{Op: wire.OpCheckSettings, Handle: checkOtherSettings},
		{Op: wire.OpPatchConfig, Handle: withResource(patchConfig)},
		{Op: wire.OpGetConfigHistory, Handle: withResource(getConfigHistory)},
		{Op: wire.OpRestoreConfig, Handle: withResource(withBody(restoreConfig))},
		{Op: wire.OpCreateDraft, Handle: withResource(createDraft)},
		{Op: wire.OpGetDraft, Handle: withResource(getDraft)},
		{Op: wire.OpDeleteDraft, Handle: withResource(deleteDraft)},

		{Op: wire.OpGetBaseFiles, Handle: withResource(getBaseFiles)},
		{Op: wire.OpGetBaseFilesArchive, Handle: withResource(getBaseFilesArchive)},
		{Op: wire.OpPlanBaseFiles, Handle: withResource(planBaseFiles)},
		{Op: wire.OpPutBaseFiles, Handle: withResource(putBaseFiles)},
		{Op: wire.OpGetBaseFilesHistory, Handle: withResource(getBaseFilesHistory)},
		{Op: wire.OpRestoreBaseFiles, Handle: withResource(restoreBaseFiles)},

		{Op: wire.OpUploadAPI, Handle: uploadAPI},
		{Op: wire.OpImportAPI, Handle: withBody(importAPI)},
		{Op: wire.OpListAPIs, Handle: listAPIs},
		{Op: wire.OpGetAPI, Handle: withResource(getAPI)},
		{Op: wire.OpGetDocument, Handle: withResource(getDocument)},
		{Op: wire.OpGetTargets, Handle: withResource(getTargets)},
		{Op: wire.OpPutDocument, Handle: withResource(putDocument)},
		{Op: wire.OpDeleteAPI, Handle: deleteAPI},

		{Op: wire.OpGetStack, Handle: withResource(getStack)},
		{Op: wire.OpPutVersion, Handle: putVersion},
		{Op: wire.OpGetVersion, Handle: getVersion},
		{Op: wire.OpGetBundle, Handle: getBundle},
		{Op: wire.OpGetSettingsSchema, Handle: getSettingsSchema},
		{Op: wire.OpGetFileSchema, Handle: getFileSchema},
	}
}

// withBody returns a handler that reads the JSON body of the request first: 415, 413, 400 or 422.
func withBody[T any](handle func(c *request.Call, req *T) error) request.Handler {
	return func(c *request.Call) error {
		req := new(T)
		if _, err := c.ReadJSON("the body", request.MaxJSON, req); err != nil {
			return err
		}
		return handle(c, req)
	}
}

// withResource returns a handler that fails with a 404 if what the path names does not exist for the caller.
func withResource(handle request.Handler) request.Handler {
	return func(c *request.Call) error {
		if err := c.NeedResource(); err != nil {
			return err
		}
		return handle(c)
	}
}
