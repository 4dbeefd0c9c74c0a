package wire

import (
	"net/http"
	"net/url"
	"strings"
)

// Endpoint is one route of a hub: how it is called and what the caller needs. Hubs
// register their handlers by it, clients call by it, and the paths of the OpenAPI
// description are generated from it.
type Endpoint struct {
	Op     Op
	Method string
	Path   string // with parameters in braces, as in OpenAPI

	Account AccountIn
	Role    Role  // the least role needed on that account
	Scope   Scope // the scope that the token needs; "": none
	Public  bool  // a public project needs no token

	// Keyed marks a POST that creates, or restores under a name: sending it again is safe only with an
	// Idempotency-Key. Once marks a POST that does something again each time it is sent.
	// All other endpoints are idempotent.
	Keyed, Once bool

	// Request and Response are zero values of the JSON bodies; nil: none, or one of
	// the media types below.
	Request, Response any
	Accepts           []string // media types of a body that is not JSON
	Returns           []string // media types of a response that is not JSON
}

// AccountIn says where a request names the account on which a role is needed.
type AccountIn int

// The places where a request names the account.
const (
	Anonymous AccountIn = iota + 1 // no role is needed, nor a token
	AnyToken                       // a token is needed, but no role
	InPath                         // {account}
	InQuery                        // ?account=, by default the caller's own
	InBot                          // ?account=, by default that of ?botRefId=@account/slug, else the caller's own
	InBody                         // a member of the body
)

// Op names an endpoint. It is the operationId of the OpenAPI description.
type Op string

// The endpoints of a hub, but for its pages.
const (
	OpWhoami              Op = "whoami"
	OpCreateToken         Op = "createToken"
	OpListTokens          Op = "listTokens"
	OpRevokeToken         Op = "revokeToken"
	OpEndSession          Op = "endSession"
	OpCreateProject       Op = "createProject"
	OpListProjects        Op = "listProjects"
	OpGetProject          Op = "getProject"
	OpEditProject         Op = "editProject"
	OpDeleteProject       Op = "deleteProject"
	OpRestoreProject      Op = "restoreProject"
	OpListDeleted         Op = "listDeletedProjects"
	OpGetConfig           Op = "getConfig"
	OpGetConfigHistory    Op = "getConfigHistory"
	OpRestoreConfig       Op = "restoreConfig"
	OpPatchConfig         Op = "patchConfig"
	OpCreateDraft         Op = "createDraft"
	OpGetDraft            Op = "getDraft"
	OpDeleteDraft         Op = "deleteDraft"
	OpPutConfig           Op = "putClientConfig"
	OpCheckConfig         Op = "checkClientConfig"
	OpCheckSettings       Op = "checkSettings"
	OpGetBaseFiles        Op = "getBaseFiles"
	OpPutBaseFiles        Op = "putBaseFiles"
	OpGetSettingsSchema   Op = "getSettingsSchema"
	OpGetEvents           Op = "getProjectEvents"
	OpPutPresence         Op = "putPresence"
	OpGetBaseFilesHistory Op = "getBaseFilesHistory"
	OpRestoreBaseFiles    Op = "restoreBaseFiles"
	OpPlanBaseFiles       Op = "planBaseFiles"
	OpGetBaseFilesArchive Op = "getBaseFilesArchive"
	OpPreviewStack        Op = "getPreviewStack"
	OpPreviewAPI          Op = "getPreviewApi"
	OpUploadAPI           Op = "uploadApi"
	OpImportAPI           Op = "importApi"
	OpListAPIs            Op = "listApis"
	OpGetAPI              Op = "getApi"
	OpGetDocument         Op = "getApiDocument"
	OpGetTargets          Op = "getApiTargets"
	OpPutDocument         Op = "putApiDocument"
	OpDeleteAPI           Op = "deleteApi"
	OpGetStack            Op = "getStack"
	OpPutVersion          Op = "publishStackVersion"
	OpGetVersion          Op = "getStackVersion"
	OpGetBundle           Op = "getStackBundle"
	OpSetRateLimit        Op = "setRateLimit"
	OpGetRateLimit        Op = "getRateLimit"
	OpTakeRateLimit       Op = "takeRateLimit"
	OpListMembers         Op = "listMembers"
	OpSetMember           Op = "setMember"
	OpRemoveMember        Op = "removeMember"
	OpListBots            Op = "listBots"
	OpPutBot              Op = "putBot"
	OpDeleteBot           Op = "deleteBot"
	OpListBotTokens       Op = "listBotTokens"
	OpCreateBotToken      Op = "createBotToken"
	OpRevokeBotToken      Op = "revokeBotToken"
	OpHealth              Op = "healthz"
	OpReady               Op = "readyz"
	OpOpenAPI             Op = "getOpenapi"
	OpCreateLink          Op = "createLink"
	OpCreateInvitation    Op = "createInvitation"
	OpStartDevice         Op = "startDevice"
	OpDeviceToken         Op = "getDeviceToken"
	OpGetFileSchema       Op = "getFileSchema"
)

const (
	projectPath   = "/v1/projects/{account}/{slug}"
	baseFilesPath = projectPath + "/preview/base-files"
	apiPath       = "/v1/apis/{account}/{slug}"
	stackPath     = "/v1/stacks/{account}/{slug}"
	versionPath   = stackPath + "/versions/{version}"
	memberPath    = "/v1/members/{account}/{user}"
	botPath       = "/v1/bots/{account}/{slug}"
)

// ProjectPage is the path of a project's page.
const ProjectPage = "/@{account}/{slug}"

// HTML is what pages return.
var HTML = []string{"text/html"}

// FormType is the media type of an HTML form.
const FormType = "application/x-www-form-urlencoded"

// Media types of archives, and of API descriptions.
var (
	archiveTypes = []string{
		"application/x-tar", "application/gzip", "application/zstd", "application/octet-stream", UploadType,
	}
	descriptionTypes = []string{
		"application/json", "application/yaml", "application/x-yaml", "text/yaml",
		"application/vnd.oai.openapi", "application/vnd.oai.openapi+json", "application/vnd.oai.openapi+yaml",
		"application/octet-stream",
	}
)

// Endpoints lists every endpoint of a hub once, but for its pages, which are the hub's own.
var Endpoints = []Endpoint{
	{Op: OpWhoami, Method: http.MethodGet, Path: "/v1/whoami", Account: AnyToken, Response: Whoami{}},
	// A token is a secret, so that no response is stored for an Idempotency-Key. What else
	// these need than a token, their handlers know.
	{Op: OpCreateToken, Method: http.MethodPost, Path: "/v1/tokens", Account: AnyToken, Once: true, Request: CreateToken{},
		Response: CreatedToken{}},
	{Op: OpListTokens, Method: http.MethodGet, Path: "/v1/tokens", Account: AnyToken, Response: Tokens{}},
	{Op: OpRevokeToken, Method: http.MethodDelete, Path: "/v1/tokens/{id}", Account: AnyToken, Response: RevokedToken{}},
	{Op: OpEndSession, Method: http.MethodDelete, Path: "/v1/sessions/{id}", Account: AnyToken, Response: EndedSession{}},

	{Op: OpCreateProject, Method: http.MethodPost, Path: "/v1/projects", Account: InBody, Role: Writer,
		Scope: ScopeWriteCatalog, Keyed: true, Request: CreateProject{}, Response: Project{}},
	{Op: OpListProjects, Method: http.MethodGet, Path: "/v1/projects", Account: AnyToken, Response: Projects{}},
	{Op: OpGetProject, Method: http.MethodGet, Path: projectPath, Account: InPath, Role: Reader, Public: true,
		Response: Project{}},
	{Op: OpEditProject, Method: http.MethodPatch, Path: projectPath, Account: InPath, Role: Writer,
		Scope: ScopeWriteCatalog, Request: EditProject{}, Response: Project{}},
	{Op: OpDeleteProject, Method: http.MethodDelete, Path: projectPath, Account: InPath, Role: Writer,
		Scope: ScopeAdminResource, Response: Deleted{}},
	{Op: OpRestoreProject, Method: http.MethodPost, Path: projectPath + "/restore", Account: InPath, Role: Writer,
		Scope: ScopeAdminResource, Keyed: true, Request: RestoreProject{}, Response: Restored{}},
	{Op: OpListDeleted, Method: http.MethodGet, Path: "/v1/deleted-projects", Account: AnyToken,
		Response: DeletedProjects{}},
	{Op: OpGetEvents, Method: http.MethodGet, Path: projectPath + "/events", Account: InPath, Role: Reader, Public: true,
		Returns: []string{EventStream}},
	{
		Op: OpPutPresence, Method: http.MethodPut, Path: projectPath + "/presence", Account: InPath, Role: Reader,
		Request: PutPresence{}, Response: Presence{},
	},
	{Op: OpGetConfig, Method: http.MethodGet, Path: projectPath + "/config", Account: InPath, Role: Reader, Public: true,
		Response: Config{}},
	{Op: OpGetConfigHistory, Method: http.MethodGet, Path: projectPath + "/config/history", Account: InPath, Role: Reader,
		Response: ConfigHistory{}},
	{
		Op: OpRestoreConfig, Method: http.MethodPost, Path: projectPath + "/config/restore",
		Account: InPath, Role: Writer, Scope: ScopeWriteConfig, Request: RestoreConfig{}, Response: ConfigWritten{},
	},
	{Op: OpPatchConfig, Method: http.MethodPatch, Path: projectPath + "/config", Account: InPath, Role: Writer,
		Scope: ScopeWriteConfig, Request: PatchConfig{}, Response: ConfigWritten{}},
	// The ID of a draft is a secret, so that no response is stored for an Idempotency-Key.
	{
		Op: OpCreateDraft, Method: http.MethodPost, Path: projectPath + "/drafts", Account: InPath, Role: Reader,
		Scope: ScopeWriteConfig, Once: true, Request: CreateDraft{}, Response: CreatedDraft{},
	},
	{
		Op: OpGetDraft, Method: http.MethodGet, Path: projectPath + "/drafts/{draft}", Account: InPath, Role: Reader,
		Response: Draft{},
	},
	{
		Op: OpDeleteDraft, Method: http.MethodDelete, Path: projectPath + "/drafts/{draft}", Account: InPath, Role: Reader,
		Scope: ScopeWriteConfig, Response: DeletedDraft{},
	},
	{Op: OpPutConfig, Method: http.MethodPut, Path: projectPath + "/client-config", Account: InPath, Role: Writer,
		Scope: ScopeWriteConfig, Request: PutConfig{}, Response: ConfigWritten{}},
	{Op: OpCheckConfig, Method: http.MethodPost, Path: projectPath + "/client-config", Account: InPath, Role: Writer,
		Scope: ScopeWriteConfig, Request: PutConfig{}, Response: ConfigWritten{}},
	{
		Op: OpCheckSettings, Method: http.MethodPost, Path: "/v1/settings/check", Account: AnyToken,
		Request: CheckSettings{}, Response: CheckedSettings{},
	},
	{Op: OpGetBaseFiles, Method: http.MethodGet, Path: baseFilesPath, Account: InPath, Role: Reader, Public: true,
		Response: BaseFiles{}},
	{Op: OpPutBaseFiles, Method: http.MethodPut, Path: baseFilesPath, Account: InPath, Role: Writer,
		Scope: ScopeWriteConfig, Accepts: archiveTypes, Response: BaseFilesWritten{}},
	{Op: OpGetBaseFilesHistory, Method: http.MethodGet, Path: baseFilesPath + "/history", Account: InPath, Role: Reader,
		Response: BaseFilesHistory{}},
	{Op: OpRestoreBaseFiles, Method: http.MethodPost, Path: baseFilesPath + "/restore", Account: InPath, Role: Writer,
		Scope: ScopeWriteConfig, Request: RestoreBaseFiles{}, Response: BaseFilesWritten{}},
	{Op: OpPlanBaseFiles, Method: http.MethodPost, Path: baseFilesPath + "/plan", Account: InPath, Role: Writer,
		Scope: ScopeWriteConfig, Request: PlanBaseFiles{}, Response: PlannedBaseFiles{}},
	{Op: OpGetBaseFilesArchive, Method: http.MethodGet, Path: baseFilesPath + "/archive", Account: InPath, Role: Reader,
		Public: true, Returns: []string{"application/x-tar"}},
	{Op: OpPreviewStack, Method: http.MethodGet, Path: projectPath + "/preview/stack", Account: InPath, Role: Reader,
		Public: true, Returns: []string{"application/x-tar"}},
	{Op: OpPreviewAPI, Method: http.MethodGet, Path: projectPath + "/preview/api", Account: InPath, Role: Reader,
		Public: true, Returns: []string{"application/json"}},

	{Op: OpUploadAPI, Method: http.MethodPost, Path: "/v1/apis/upload", Account: InQuery, Role: Writer,
		Scope: ScopeWriteCatalog, Keyed: true, Accepts: descriptionTypes, Response: API{}},
	{Op: OpImportAPI, Method: http.MethodPost, Path: "/v1/apis/import", Account: InBody, Role: Writer,
		Scope: ScopeWriteCatalog, Keyed: true, Request: ImportAPI{}, Response: API{}},
	{Op: OpListAPIs, Method: http.MethodGet, Path: "/v1/apis", Account: AnyToken, Response: APIs{}},
	{Op: OpGetAPI, Method: http.MethodGet, Path: apiPath, Account: InPath, Role: Reader, Response: API{}},
	{Op: OpGetDocument, Method: http.MethodGet, Path: apiPath + "/document", Account: InPath, Role: Reader,
		Returns: []string{"application/json", "application/yaml"}},
	{Op: OpPutDocument, Method: http.MethodPut, Path: apiPath + "/document", Account: InPath, Role: Writer,
		Scope: ScopeWriteCatalog, Accepts: descriptionTypes, Response: API{}},
	{Op: OpDeleteAPI, Method: http.MethodDelete, Path: apiPath, Account: InPath, Role: Writer, Scope: ScopeAdminResource,
		Response: DeletedAPI{}},
	{Op: OpGetTargets, Method: http.MethodGet, Path: apiPath + "/targets", Account: InPath, Role: Reader,
		Response: Targets{}},

	{Op: OpGetStack, Method: http.MethodGet, Path: stackPath, Account: InPath, Role: Reader, Response: Stack{}},
	{Op: OpPutVersion, Method: http.MethodPut, Path: versionPath, Account: InPath, Role: Writer, Scope: ScopeWriteCatalog,
		Accepts: archiveTypes, Response: Published{}},
	{Op: OpGetVersion, Method: http.MethodGet, Path: versionPath, Account: InPath, Role: Reader, Response: StackVersion{}},
	{Op: OpGetSettingsSchema, Method: http.MethodGet, Path: versionPath + "/settings-schema", Account: InPath,
		Role: Reader, Returns: []string{"application/json"}},
	{Op: OpGetBundle, Method: http.MethodGet, Path: versionPath + "/bundle", Account: InPath, Role: Reader,
		Returns: []string{"application/x-tar"}},

	{Op: OpSetRateLimit, Method: http.MethodPost, Path: "/v1/rate-limit", Account: InBot, Role: Writer,
		Scope: ScopeAdminResource, Request: RateLimitConfig{}, Response: RateLimit{}},
	{Op: OpGetRateLimit, Method: http.MethodGet, Path: "/v1/rate-limit", Account: InBot, Role: Reader,
		Response: RateLimit{}},
	{Op: OpTakeRateLimit, Method: http.MethodPost, Path: "/v1/rate-limit/take", Account: InBot, Role: Writer,
		Scope: ScopeUseLimit, Once: true, Response: Taken{}},
	{Op: OpListMembers, Method: http.MethodGet, Path: "/v1/members", Account: InQuery, Role: Reader, Response: Members{}},
	{Op: OpSetMember, Method: http.MethodPut, Path: memberPath, Account: InPath, Role: Admin, Scope: ScopeAdminResource,
		Request: SetMember{}, Response: Member{}},
	{Op: OpRemoveMember, Method: http.MethodDelete, Path: memberPath, Account: InPath, Role: Admin,
		Scope: ScopeAdminResource, Response: RemovedMember{}},
	{Op: OpListBots, Method: http.MethodGet, Path: "/v1/bots", Account: InQuery, Role: Reader, Response: Bots{}},
	{Op: OpPutBot, Method: http.MethodPut, Path: botPath, Account: InPath, Role: Admin, Scope: ScopeAdminResource,
		Response: Bot{}},
	{Op: OpDeleteBot, Method: http.MethodDelete, Path: botPath, Account: InPath, Role: Admin, Scope: ScopeAdminResource,
		Response: DeletedBot{}},
	{Op: OpListBotTokens, Method: http.MethodGet, Path: botPath + "/tokens", Account: InPath, Role: Admin,
		Response: BotTokens{}},
	{Op: OpRevokeBotToken, Method: http.MethodDelete, Path: botPath + "/tokens/{id}", Account: InPath, Role: Admin,
		Scope: ScopeAdminResource, Response: RevokedBotToken{}},
	{Op: OpCreateBotToken, Method: http.MethodPost, Path: botPath + "/tokens", Account: InPath, Role: Admin,
		Scope: ScopeAdminResource, Once: true, Request: CreateBotToken{}, Response: BotToken{}},

	{Op: OpHealth, Method: http.MethodGet, Path: "/healthz", Account: Anonymous, Response: Status{}},
	{Op: OpReady, Method: http.MethodGet, Path: "/readyz", Account: Anonymous, Response: Status{}},
	{Op: OpOpenAPI, Method: http.MethodGet, Path: "/v1/openapi.json", Account: Anonymous, Response: Description{}},
	{Op: OpGetFileSchema, Method: http.MethodGet, Path: "/schema/{name}", Account: Anonymous,
		Returns: []string{"application/schema+json"}},
	// Links are secrets, so that no response is stored for an Idempotency-Key. One that is
	// created twice is of no use to anybody.
	{Op: OpCreateLink, Method: http.MethodPost, Path: "/v1/links", Account: AnyToken, Request: CreateLink{},
		Response: Link{}},
	{Op: OpCreateInvitation, Method: http.MethodPost, Path: "/v1/invitations", Account: InBody, Role: Admin,
		Scope: ScopeAdminResource, Request: CreateInvitation{}, Response: Link{}},
	{Op: OpStartDevice, Method: http.MethodPost, Path: "/v1/device", Account: Anonymous, Request: StartDevice{},
		Response: Device{}},
	{Op: OpDeviceToken, Method: http.MethodPost, Path: "/v1/device/token", Account: Anonymous, Request: DeviceCode{},
		Response: DeviceToken{}},
}

// Kind returns what the path names by its account and slug: a project, an api, a stack, or "" for none of them.
func (e *Endpoint) Kind() string {
	switch {
	case strings.HasPrefix(e.Path, projectPath), strings.HasPrefix(e.Path, ProjectPage):
		return "project"
	case strings.HasPrefix(e.Path, apiPath):
		return "api"
	case strings.HasPrefix(e.Path, stackPath):
		return "stack"
	}
	return ""
}

// Endpoint returns the endpoint that o names. It panics if there is none.
func (o Op) Endpoint() *Endpoint {
	for i := range Endpoints {
		if Endpoints[i].Op == o {
			return &Endpoints[i]
		}
	}
	panic("wire: no endpoint " + string(o))
}

// Expand returns the path with the values in place of its parameters, in their order.
func (e *Endpoint) Expand(values ...string) string {
	path := e.Path
	for _, value := range values {
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = before + url.PathEscape(value) + after
	}
	return path
}
