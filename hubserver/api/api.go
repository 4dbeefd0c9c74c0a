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

// Handlers returns the handlers of the endpoints of the API; w manages the event streams.
func Handlers(w *Watches) map[wire.Op]request.Handler {
	return map[wire.Op]request.Handler{
		wire.OpWhoami:           whoami,
		wire.OpListMembers:      with(requestedPage, listMembers),
		wire.OpSetMember:        withBody(setMember),
		wire.OpRemoveMember:     removeMember,
		wire.OpCreateToken:      withBody(createToken),
		wire.OpListTokens:       listTokens,
		wire.OpRevokeToken:      revokeToken,
		wire.OpEndSession:       endSession,
		wire.OpListBots:         with(requestedPage, listBots),
		wire.OpPutBot:           putBot,
		wire.OpDeleteBot:        deleteBot,
		wire.OpCreateBotToken:   withBody(createBotToken),
		wire.OpListBotTokens:    listBotTokens,
		wire.OpRevokeBotToken:   revokeBotToken,
		wire.OpSetRateLimit:     withBody(setRateLimit),
		wire.OpGetRateLimit:     getRateLimit,
		wire.OpTakeRateLimit:    takeRateLimit,
		wire.OpCreateLink:       withBody(createLink),
		wire.OpCreateInvitation: withBody(createInvitation),
		wire.OpStartDevice:      withBody(startDevice),
		wire.OpDeviceToken:      withBody(deviceToken),

		wire.OpCreateProject:  withBody(createProject),
		wire.OpListProjects:   with(listParameters, listProjects),
		wire.OpGetProject:     withResource(with(project, getProject)),
		wire.OpEditProject:    withResource(withBody(editProject)),
		wire.OpDeleteProject:  deleteProject,
		wire.OpRestoreProject: restoreProject,
		wire.OpListDeleted:    with(listParameters, listDeleted),
		wire.OpGetEvents:      withResource(w.getEvents),
		wire.OpPutPresence:    withResource(withBody(w.putPresence)),
		wire.OpPreviewStack:   withResource(with(project, previewStack)),
		wire.OpPreviewAPI:     withResource(with(project, previewAPI)),

		wire.OpGetConfig:        withResource(getConfig),
		wire.OpPutConfig:        withResource(putConfig),
		wire.OpCheckConfig:      withResource(checkConfig),
		wire.OpCheckSettings:    checkOtherSettings,
		wire.OpPatchConfig:      withResource(patchConfig),
		wire.OpGetConfigHistory: withResource(with(requestedPage, getConfigHistory)),
		wire.OpRestoreConfig:    withResource(withBody(restoreConfig)),
		wire.OpCreateDraft:      withResource(createDraft),
		wire.OpGetDraft:         withResource(getDraft),
		wire.OpDeleteDraft:      withResource(deleteDraft),

		wire.OpGetBaseFiles:        withResource(getBaseFiles),
		wire.OpGetBaseFilesArchive: withResource(with(presentFiles, getBaseFilesArchive)),
		wire.OpPlanBaseFiles:       withResource(planBaseFiles),
		wire.OpPutBaseFiles:        withResource(putBaseFiles),
		wire.OpGetBaseFilesHistory: withResource(getBaseFilesHistory),
		wire.OpRestoreBaseFiles:    withResource(restoreBaseFiles),

		wire.OpUploadAPI:   uploadAPI,
		wire.OpImportAPI:   withBody(importAPI),
		wire.OpListAPIs:    with(listParameters, listAPIs),
		wire.OpGetAPI:      withResource(with(registered, getAPI)),
		wire.OpGetDocument: withResource(with(registered, getDocument)),
		wire.OpGetTargets:  withResource(with(registered, getTargets)),
		wire.OpPutDocument: withResource(putDocument),
		wire.OpDeleteAPI:   deleteAPI,

		wire.OpGetStack:          withResource(getStack),
		wire.OpPutVersion:        putVersion,
		wire.OpGetVersion:        with(stackVersion, getVersion),
		wire.OpGetBundle:         with(stackVersion, getBundle),
		wire.OpGetSettingsSchema: with(stackVersion, getSettingsSchema),
		wire.OpGetFileSchema:     getFileSchema,
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

// with returns a handler that first calls find, such as for what the path or the query names.
func with[T any](find func(*request.Call) (T, error), handle func(*request.Call, T) error) request.Handler {
	return func(c *request.Call) error {
		found, err := find(c)
		if err != nil {
			return err
		}
		return handle(c, found)
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
