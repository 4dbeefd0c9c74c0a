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
	InPath    AccountIn = iota // {account}
	Anonymous                  // no role is needed, nor a token
	AnyToken                   // a token is needed, but no role
	InQuery                    // ?account=, by default the caller's own
	InBot                      // ?account=, by default that of ?botRefId=@account/slug, else the caller's own
	InBody                     // a member of the body
)

// Op names an endpoint. It is the operationId of the OpenAPI description.
type Op string

const (
	get   = http.MethodGet
	post  = http.MethodPost
	put   = http.MethodPut
	patch = http.MethodPatch
	del   = http.MethodDelete

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
var Endpoints []Endpoint

func endpoint(op Op, method, path string, e Endpoint) Op {
	e.Op, e.Method, e.Path = op, method, path
	Endpoints = append(Endpoints, e)
	return op
}

// The endpoints of a hub.
var (
	OpWhoami = endpoint("whoami", get, "/v1/whoami", Endpoint{Account: AnyToken, Response: Whoami{}})
	// A token is a secret, so that no response is stored for an Idempotency-Key. What else
	// these need than a token, their handlers know.
	OpCreateToken = endpoint("createToken", post, "/v1/tokens",
		Endpoint{Account: AnyToken, Once: true, Request: CreateToken{}, Response: CreatedToken{}})
	OpListTokens  = endpoint("listTokens", get, "/v1/tokens", Endpoint{Account: AnyToken, Response: Tokens{}})
	OpRevokeToken = endpoint("revokeToken", del, "/v1/tokens/{id}", Endpoint{Account: AnyToken, Response: RevokedToken{}})
	OpEndSession  = endpoint("endSession", del, "/v1/sessions/{id}",
		Endpoint{Account: AnyToken, Response: EndedSession{}})

	OpCreateProject = endpoint("createProject", post, "/v1/projects", Endpoint{
		Account: InBody, Role: Writer, Scope: ScopeWriteCatalog, Keyed: true, Request: CreateProject{}, Response: Project{},
	})
	OpListProjects = endpoint("listProjects", get, "/v1/projects", Endpoint{Account: AnyToken, Response: Projects{}})
	OpGetProject   = endpoint("getProject", get, projectPath, Endpoint{Role: Reader, Public: true, Response: Project{}})
	OpEditProject  = endpoint("editProject", patch, projectPath,
		Endpoint{Role: Writer, Scope: ScopeWriteCatalog, Request: EditProject{}, Response: Project{}})
	OpDeleteProject = endpoint("deleteProject", del, projectPath,
		Endpoint{Role: Writer, Scope: ScopeAdminResource, Response: Deleted{}})
	OpRestoreProject = endpoint("restoreProject", post, projectPath+"/restore",
		Endpoint{Role: Writer, Scope: ScopeAdminResource, Keyed: true, Request: RestoreProject{}, Response: Restored{}})
	OpListDeleted = endpoint("listDeletedProjects", get, "/v1/deleted-projects",
		Endpoint{Account: AnyToken, Response: DeletedProjects{}})
	OpGetEvents = endpoint("getProjectEvents", get, projectPath+"/events",
		Endpoint{Role: Reader, Public: true, Returns: []string{EventStream}})
	OpPutPresence = endpoint("putPresence", put, projectPath+"/presence",
		Endpoint{Role: Reader, Request: PutPresence{}, Response: Presence{}})
	OpGetConfig = endpoint("getConfig", get, projectPath+"/config",
		Endpoint{Role: Reader, Public: true, Response: Config{}})
	OpGetConfigHistory = endpoint("getConfigHistory", get, projectPath+"/config/history",
		Endpoint{Role: Reader, Response: ConfigHistory{}})
	OpRestoreConfig = endpoint("restoreConfig", post, projectPath+"/config/restore",
		Endpoint{Role: Writer, Scope: ScopeWriteConfig, Request: RestoreConfig{}, Response: ConfigWritten{}})
	OpPatchConfig = endpoint("patchConfig", patch, projectPath+"/config",
		Endpoint{Role: Writer, Scope: ScopeWriteConfig, Request: PatchConfig{}, Response: ConfigWritten{}})
	// The ID of a draft is a secret, so that no response is stored for an Idempotency-Key.
	OpCreateDraft = endpoint("createDraft", post, projectPath+"/drafts",
		Endpoint{Role: Reader, Scope: ScopeWriteConfig, Once: true, Request: CreateDraft{}, Response: CreatedDraft{}})
	OpGetDraft    = endpoint("getDraft", get, projectPath+"/drafts/{draft}", Endpoint{Role: Reader, Response: Draft{}})
	OpDeleteDraft = endpoint("deleteDraft", del, projectPath+"/drafts/{draft}",
		Endpoint{Role: Reader, Scope: ScopeWriteConfig, Response: DeletedDraft{}})
	OpPutConfig = endpoint("putClientConfig", put, projectPath+"/client-config",
		Endpoint{Role: Writer, Scope: ScopeWriteConfig, Request: PutConfig{}, Response: ConfigWritten{}})
	OpCheckConfig = endpoint("checkClientConfig", post, projectPath+"/client-config",
		Endpoint{Role: Writer, Scope: ScopeWriteConfig, Request: PutConfig{}, Response: ConfigWritten{}})
	OpCheckSettings = endpoint("checkSettings", post, "/v1/settings/check",
		Endpoint{Account: AnyToken, Request: CheckSettings{}, Response: CheckedSettings{}})
	OpGetBaseFiles = endpoint("getBaseFiles", get, baseFilesPath,
		Endpoint{Role: Reader, Public: true, Response: BaseFiles{}})
	OpPutBaseFiles = endpoint("putBaseFiles", put, baseFilesPath,
		Endpoint{Role: Writer, Scope: ScopeWriteConfig, Accepts: archiveTypes, Response: BaseFilesWritten{}})
	OpGetBaseFilesHistory = endpoint("getBaseFilesHistory", get, baseFilesPath+"/history",
		Endpoint{Role: Reader, Response: BaseFilesHistory{}})
	OpRestoreBaseFiles = endpoint("restoreBaseFiles", post, baseFilesPath+"/restore",
		Endpoint{Role: Writer, Scope: ScopeWriteConfig, Request: RestoreBaseFiles{}, Response: BaseFilesWritten{}})
	OpPlanBaseFiles = endpoint("planBaseFiles", post, baseFilesPath+"/plan",
		Endpoint{Role: Writer, Scope: ScopeWriteConfig, Request: PlanBaseFiles{}, Response: PlannedBaseFiles{}})
	OpGetBaseFilesArchive = endpoint("getBaseFilesArchive", get, baseFilesPath+"/archive",
		Endpoint{Role: Reader, Public: true, Returns: []string{"application/x-tar"}})
	OpPreviewStack = endpoint("getPreviewStack", get, projectPath+"/preview/stack",
		Endpoint{Role: Reader, Public: true, Returns: []string{"application/x-tar"}})
	OpPreviewAPI = endpoint("getPreviewApi", get, projectPath+"/preview/api",
		Endpoint{Role: Reader, Public: true, Returns: []string{"application/json"}})

	OpUploadAPI = endpoint("uploadApi", post, "/v1/apis/upload", Endpoint{
		Account: InQuery, Role: Writer, Scope: ScopeWriteCatalog, Keyed: true, Accepts: descriptionTypes, Response: API{},
	})
	OpImportAPI = endpoint("importApi", post, "/v1/apis/import", Endpoint{
		Account: InBody, Role: Writer, Scope: ScopeWriteCatalog, Keyed: true, Request: ImportAPI{}, Response: API{},
	})
	OpListAPIs    = endpoint("listApis", get, "/v1/apis", Endpoint{Account: AnyToken, Response: APIs{}})
	OpGetAPI      = endpoint("getApi", get, apiPath, Endpoint{Role: Reader, Response: API{}})
	OpGetDocument = endpoint("getApiDocument", get, apiPath+"/document",
		Endpoint{Role: Reader, Returns: []string{"application/json", "application/yaml"}})
	OpPutDocument = endpoint("putApiDocument", put, apiPath+"/document",
		Endpoint{Role: Writer, Scope: ScopeWriteCatalog, Accepts: descriptionTypes, Response: API{}})
	OpDeleteAPI = endpoint("deleteApi", del, apiPath,
		Endpoint{Role: Writer, Scope: ScopeAdminResource, Response: DeletedAPI{}})
	OpGetTargets = endpoint("getApiTargets", get, apiPath+"/targets", Endpoint{Role: Reader, Response: Targets{}})

	OpGetStack   = endpoint("getStack", get, stackPath, Endpoint{Role: Reader, Response: Stack{}})
	OpPutVersion = endpoint("publishStackVersion", put, versionPath,
		Endpoint{Role: Writer, Scope: ScopeWriteCatalog, Accepts: archiveTypes, Response: Published{}})
	OpGetVersion        = endpoint("getStackVersion", get, versionPath, Endpoint{Role: Reader, Response: StackVersion{}})
	OpGetSettingsSchema = endpoint("getSettingsSchema", get, versionPath+"/settings-schema",
		Endpoint{Role: Reader, Returns: []string{"application/json"}})
	OpGetBundle = endpoint("getStackBundle", get, versionPath+"/bundle",
		Endpoint{Role: Reader, Returns: []string{"application/x-tar"}})

	OpSetRateLimit = endpoint("setRateLimit", post, "/v1/rate-limit",
		Endpoint{Account: InBot, Role: Writer, Scope: ScopeAdminResource, Request: RateLimitConfig{}, Response: RateLimit{}})
	OpGetRateLimit = endpoint("getRateLimit", get, "/v1/rate-limit",
		Endpoint{Account: InBot, Role: Reader, Response: RateLimit{}})
	OpTakeRateLimit = endpoint("takeRateLimit", post, "/v1/rate-limit/take",
		Endpoint{Account: InBot, Role: Writer, Scope: ScopeUseLimit, Once: true, Response: Taken{}})
	OpListMembers = endpoint("listMembers", get, "/v1/members",
		Endpoint{Account: InQuery, Role: Reader, Response: Members{}})
	OpSetMember = endpoint("setMember", put, memberPath,
		Endpoint{Role: Admin, Scope: ScopeAdminResource, Request: SetMember{}, Response: Member{}})
	OpRemoveMember = endpoint("removeMember", del, memberPath,
		Endpoint{Role: Admin, Scope: ScopeAdminResource, Response: RemovedMember{}})
	OpListBots  = endpoint("listBots", get, "/v1/bots", Endpoint{Account: InQuery, Role: Reader, Response: Bots{}})
	OpPutBot    = endpoint("putBot", put, botPath, Endpoint{Role: Admin, Scope: ScopeAdminResource, Response: Bot{}})
	OpDeleteBot = endpoint("deleteBot", del, botPath,
		Endpoint{Role: Admin, Scope: ScopeAdminResource, Response: DeletedBot{}})
	OpListBotTokens  = endpoint("listBotTokens", get, botPath+"/tokens", Endpoint{Role: Admin, Response: BotTokens{}})
	OpRevokeBotToken = endpoint("revokeBotToken", del, botPath+"/tokens/{id}",
		Endpoint{Role: Admin, Scope: ScopeAdminResource, Response: RevokedBotToken{}})
	OpCreateBotToken = endpoint("createBotToken", post, botPath+"/tokens",
		Endpoint{Role: Admin, Scope: ScopeAdminResource, Once: true, Request: CreateBotToken{}, Response: BotToken{}})

	OpHealth  = endpoint("healthz", get, "/healthz", Endpoint{Account: Anonymous, Response: Status{}})
	OpReady   = endpoint("readyz", get, "/readyz", Endpoint{Account: Anonymous, Response: Status{}})
	OpOpenAPI = endpoint("getOpenapi", get, "/v1/openapi.json",
		Endpoint{Account: Anonymous, Response: Description{}})
	OpGetFileSchema = endpoint("getFileSchema", get, "/schema/{name}",
		Endpoint{Account: Anonymous, Returns: []string{"application/schema+json"}})
	// Links are secrets, so that no response is stored for an Idempotency-Key. One that is
	// created twice is of no use to anybody.
	OpCreateLink = endpoint("createLink", post, "/v1/links",
		Endpoint{Account: AnyToken, Request: CreateLink{}, Response: Link{}})
	OpCreateInvitation = endpoint("createInvitation", post, "/v1/invitations",
		Endpoint{Account: InBody, Role: Admin, Scope: ScopeAdminResource, Request: CreateInvitation{}, Response: Link{}})
	OpStartDevice = endpoint("startDevice", post, "/v1/device",
		Endpoint{Account: Anonymous, Request: StartDevice{}, Response: Device{}})
	OpDeviceToken = endpoint("getDeviceToken", post, "/v1/device/token",
		Endpoint{Account: Anonymous, Request: DeviceCode{}, Response: DeviceToken{}})
)

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
