package page

import (
	"net/http"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
)

// route is the endpoint of a page, or of a form, with its handler.
type route struct {
	wire.Endpoint
	handle request.Handler
}

func routes() []route {
	const project = wire.ProjectPage
	return []route{
		{page("getHomePage", "/"), homePage},
		{page("getAccountPage", "/@{account}"), accountPage},
		{page("getConfigPage", project), tab("Config", configPage)},
		{page("getPreviewPage", project+"/preview"), tab("Preview", previewPage)},
		{page("getFilesPage", project+"/files"), tab("Files", filesPage)},
		{page("getFilePage", project+"/files/{file}"), tab("Files", filesPage)},
		{page("getHistoryPage", project+"/history"), tab("History", historyPage)},
		{page("getSettingsPage", project+"/settings"), tab("Settings", settingsPage)},
		{page("getSignInPage", "/sign-in"), signInPage},
		{form("signIn", "/sign-in"), signIn},
		{wire.Endpoint{
			Op: "signOut", Method: http.MethodPost, Path: "/sign-out", Account: wire.Anonymous, Returns: wire.HTML,
		}, signOut},
		{page("getLinkPage", "/link"), linkPage},
		{form("useLink", "/link"), useLink},
		{page("getDevicePage", "/device"), devicePage},
		{form("decideDevice", "/device"), decideDevice},
		{page("getTokensPage", "/tokens"), tokensPage},
		{wire.Endpoint{
			Op: "getStaticFile", Method: http.MethodGet, Path: "/static/{file}", Account: wire.Anonymous,
			Returns: []string{"text/css", "text/javascript", "image/svg+xml", "text/plain", "application/json"},
		}, getStatic},
		{wire.Endpoint{
			Op: "getLLMs", Method: http.MethodGet, Path: "/llms.txt", Account: wire.Anonymous,
			Returns: []string{"text/plain"},
		}, getLLMs},
	}
}

// page returns the endpoint of a page. Pages find out themselves who looks at them: what the
// viewer may not read is an absent page.
func page(op wire.Op, path string) wire.Endpoint {
	return wire.Endpoint{Op: op, Method: http.MethodGet, Path: path, Account: wire.Anonymous, Returns: wire.HTML}
}

// form returns the endpoint of a form, which finds out itself who sends it.
func form(op wire.Op, path string) wire.Endpoint {
	e := page(op, path)
	e.Method, e.Accepts = http.MethodPost, []string{wire.FormType}
	return e
}

// Endpoints returns the endpoints of pages.
func Endpoints() (all []wire.Endpoint) {
	for _, r := range routes() {
		all = append(all, r.Endpoint)
	}
	return all
}

// Handlers returns the handlers of the endpoints of pages.
func Handlers() map[wire.Op]request.Handler {
	all := map[wire.Op]request.Handler{}
	for _, r := range routes() {
		all[r.Op] = r.handle
	}
	return all
}
