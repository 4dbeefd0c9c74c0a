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

	// Keyed marks a POST that creates: sending it again is safe only with an
	// Idempotency-Key. All other endpoints are idempotent.
	Keyed bool

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
	InBot                          // ?account=, by default that of a ?botRefId= of the form @account/slug, else the caller's own
	InBody                         // a member of the body
)

// Op names an endpoint. It is the operationId of the OpenAPI description.
type Op string

// The endpoints of a hub.
const (
	OpWhoami              Op = "whoami"
	OpCreateProject       Op = "createProject"
	OpListProjects        Op = "listProjects"
	OpGetProject          Op = "getProject"
	OpDeleteProject       Op = "deleteProject"
	OpGetConfig           Op = "getConfig"
	OpPatchConfig         Op = "patchConfig"
	OpPutConfig           Op = "putClientConfig"
	OpGetBaseFiles        Op = "getBaseFiles"
	OpPutBaseFiles        Op = "putBaseFiles"
	OpPlanBaseFiles       Op = "planBaseFiles"
	OpGetBaseFilesArchive Op = "getBaseFilesArchive"
	OpUploadAPI           Op = "uploadApi"
	OpImportAPI           Op = "importApi"
	OpListAPIs            Op = "listApis"
	OpGetAPI              Op = "getApi"
	OpGetDocument         Op = "getApiDocument"
	OpGetStack            Op = "getStack"
	OpPutVersion          Op = "publishStackVersion"
	OpGetVersion          Op = "getStackVersion"
	OpGetBundle           Op = "getStackBundle"
	OpSetRateLimit        Op = "setRateLimit"
	OpGetRateLimit        Op = "getRateLimit"
	OpHealth              Op = "healthz"
	OpReady               Op = "readyz"
	OpOpenAPI             Op = "getOpenapi"
	OpPage                Op = "getProjectPage"
	OpStatic              Op = "getStaticFile"
)

const (
	projectPath   = "/v1/projects/{account}/{slug}"
	baseFilesPath = projectPath + "/preview/base-files"
	apiPath       = "/v1/apis/{account}/{slug}"
	stackPath     = "/v1/stacks/{account}/{slug}"
	versionPath   = stackPath + "/versions/{version}"
)

// Media types of archives and of API descriptions.
var (
	archiveTypes     = []string{"application/x-tar", "application/gzip", "application/zstd", "application/octet-stream"}
	descriptionTypes = []string{
		"application/json", "application/yaml", "application/x-yaml", "text/yaml",
		"application/vnd.oai.openapi", "application/vnd.oai.openapi+json", "application/vnd.oai.openapi+yaml",
		"application/octet-stream",
	}
)

// Endpoints lists every endpoint of a hub once.
var Endpoints = []Endpoint{
	{Op: OpWhoami, Method: http.MethodGet, Path: "/v1/whoami", Account: AnyToken, Response: Whoami{}},

	{Op: OpCreateProject, Method: http.MethodPost, Path: "/v1/projects", Account: InBody, Role: Writer, Scope: ScopeWriteCatalog, Keyed: true, Request: CreateProject{}, Response: Project{}},
	{Op: OpListProjects, Method: http.MethodGet, Path: "/v1/projects", Account: AnyToken, Response: Projects{}},
	{Op: OpGetProject, Method: http.MethodGet, Path: projectPath, Account: InPath, Role: Reader, Public: true, Response: Project{}},
	{Op: OpDeleteProject, Method: http.MethodDelete, Path: projectPath, Account: InPath, Role: Writer, Scope: ScopeAdminResource, Response: Deleted{}},
	{Op: OpGetConfig, Method: http.MethodGet, Path: projectPath + "/config", Account: InPath, Role: Reader, Public: true, Response: Config{}},
	{Op: OpPatchConfig, Method: http.MethodPatch, Path: projectPath + "/config", Account: InPath, Role: Writer, Scope: ScopeWriteConfig, Request: PatchConfig{}, Response: ConfigWritten{}},
	{Op: OpPutConfig, Method: http.MethodPut, Path: projectPath + "/client-config", Account: InPath, Role: Writer, Scope: ScopeWriteConfig, Request: PutConfig{}, Response: ConfigWritten{}},
	{Op: OpGetBaseFiles, Method: http.MethodGet, Path: baseFilesPath, Account: InPath, Role: Reader, Public: true, Response: BaseFiles{}},
	{Op: OpPutBaseFiles, Method: http.MethodPut, Path: baseFilesPath, Account: InPath, Role: Writer, Scope: ScopeWriteConfig, Accepts: append(archiveTypes[:4:4], BaseFilesType), Response: BaseFilesWritten{}},
	{Op: OpPlanBaseFiles, Method: http.MethodPost, Path: baseFilesPath + "/plan", Account: InPath, Role: Writer, Scope: ScopeWriteConfig, Request: Manifest{}, Response: Plan{}},
	{Op: OpGetBaseFilesArchive, Method: http.MethodGet, Path: baseFilesPath + "/archive", Account: InPath, Role: Reader, Public: true, Returns: []string{"application/x-tar"}},

	{Op: OpUploadAPI, Method: http.MethodPost, Path: "/v1/apis/upload", Account: InQuery, Role: Writer, Scope: ScopeWriteCatalog, Keyed: true, Accepts: descriptionTypes, Response: API{}},
	{Op: OpImportAPI, Method: http.MethodPost, Path: "/v1/apis/import", Account: InBody, Role: Writer, Scope: ScopeWriteCatalog, Keyed: true, Request: ImportAPI{}, Response: API{}},
	{Op: OpListAPIs, Method: http.MethodGet, Path: "/v1/apis", Account: AnyToken, Response: APIs{}},
	{Op: OpGetAPI, Method: http.MethodGet, Path: apiPath, Account: InPath, Role: Reader, Response: API{}},
	{Op: OpGetDocument, Method: http.MethodGet, Path: apiPath + "/document", Account: InPath, Role: Reader, Returns: []string{"application/json", "application/yaml"}},

	{Op: OpGetStack, Method: http.MethodGet, Path: stackPath, Account: InPath, Role: Reader, Response: Stack{}},
	{Op: OpPutVersion, Method: http.MethodPut, Path: versionPath, Account: InPath, Role: Writer, Scope: ScopeWriteCatalog, Accepts: archiveTypes, Response: Published{}},
	{Op: OpGetVersion, Method: http.MethodGet, Path: versionPath, Account: InPath, Role: Reader, Response: StackVersion{}},
	{Op: OpGetBundle, Method: http.MethodGet, Path: versionPath + "/bundle", Account: InPath, Role: Reader, Returns: []string{"application/gzip", "application/zstd"}},

	{Op: OpSetRateLimit, Method: http.MethodPost, Path: "/v1/rate-limit", Account: InBot, Role: Writer, Scope: ScopeAdminResource, Request: RateLimitConfig{}, Response: RateLimit{}},
	{Op: OpGetRateLimit, Method: http.MethodGet, Path: "/v1/rate-limit", Account: InBot, Role: Reader, Response: RateLimit{}},

	{Op: OpHealth, Method: http.MethodGet, Path: "/healthz", Account: Anonymous, Response: Status{}},
	{Op: OpReady, Method: http.MethodGet, Path: "/readyz", Account: Anonymous, Response: Status{}},
	{Op: OpOpenAPI, Method: http.MethodGet, Path: "/v1/openapi.json", Account: Anonymous, Response: Description{}},

	{Op: OpPage, Method: http.MethodGet, Path: "/@{account}/{slug}", Account: Anonymous, Returns: []string{"text/html"}},
	{Op: OpStatic, Method: http.MethodGet, Path: "/static/{file}", Account: Anonymous, Returns: []string{"text/css"}},
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
