// What runs in the app's own frame before the app: it stands in for storage, cookies, fetch
// and addresses, which an opaque origin does not have, makes the app's document and runs its
// scripts when it is told them, and reports what happens. It is built into one text of its own.

import { hear } from './console.js'
import { loader } from './load.js'

// What no policy stops. There is no other realm that could give these back: a frame within has
// another opaque origin, and runs no script but this one.
for (const name of Object.getOwnPropertyNames(window)) if (/^(webkit|moz)?RTC|^WebTransport|^Presentation/.test(name)) delete window[name]

const evaluate = eval
const outer = parent
const report = (inner, data) => outer.postMessage({ inner, ...data }, '*')
const cut = v => String(v ?? '').slice(0, 4000)
let failures = 0
let begin
const begun = new Promise(resolve => (begin = resolve))

function failed(error, event) {
  if (++failures > 20) return
  report('error', { name: cut(error?.name), message: cut(error?.message ?? event?.message ?? error), trace: cut(error?.stack), module: error?.inModule === undefined ? undefined : cut(error.inModule), address: cut(event?.filename), line: event?.lineno, column: event?.colno })
}
addEventListener('error', event => {
  if (event instanceof ErrorEvent) failed(event.error, event)
})
addEventListener('unhandledrejection', event => failed(event.reason, { message: event.reason }))

hear(said => report('printed', said))

// ---- what an opaque origin does not have

function storage() {
  const kept = new Map()
  const methods = {
    getItem: key => kept.get(String(key)) ?? null,
    setItem: (key, value) => void kept.set(String(key), String(value)),
    removeItem: key => void kept.delete(String(key)),
    clear: () => kept.clear(),
    key: i => [...kept.keys()][i] ?? null,
  }
  return new Proxy(methods, {
    get: (_, key) => (key === 'length' ? kept.size : Object.hasOwn(methods, key) ? methods[key] : kept.get(key)),
    set: (_, key, value) => (kept.set(String(key), String(value)), true),
    has: (_, key) => Object.hasOwn(methods, key) || kept.has(key),
    deleteProperty: (_, key) => (kept.delete(key), true),
    ownKeys: () => [...kept.keys()],
    getOwnPropertyDescriptor: (_, key) => (kept.has(key) ? { value: kept.get(key), enumerable: true, configurable: true, writable: true } : undefined),
  })
}
for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { value: storage(), configurable: true })

const cookies = new Map()
Object.defineProperty(document, 'cookie', {
  configurable: true,
  get: () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  set: text => {
    const [pair, ...attributes] = String(text).split(';')
    const [name, ...value] = pair.split('=')
    const ends = attributes.some(a => /^\s*max-age=(0|-)/i.test(a) || (/^\s*expires=/i.test(a) && Date.parse(a.split('=')[1]) < Date.now()))
    if (ends) cookies.delete(name.trim())
    else cookies.set(name.trim(), value.join('=').trim())
  },
})

window.fetch = async (input, init) => {
  const { files } = await begun
  const url = new URL(input instanceof Request ? input.url : input, 'http://app.invalid/')
  const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase()
  if (url.host === 'app.invalid' && method === 'GET' && files.has(url.pathname)) return new Response(files.get(url.pathname), { headers: { 'content-type': 'application/json' } })
  const problem = { title: 'The preview has no API', status: 501, detail: `${method} ${url.host === 'app.invalid' ? url.pathname : url.href} was not sent: only /@hub/config.json and /@hub/api.json respond` }
  return new Response(JSON.stringify(problem), { status: 501, statusText: 'Not Implemented', headers: { 'content-type': 'application/problem+json' } })
}

// The address of this frame cannot be changed, except for its hash.
for (const name of ['pushState', 'replaceState']) {
  const native = history[name].bind(history)
  history[name] = (state, title, address) => {
    const hash = address === undefined || address === null ? '' : new URL(address, 'http://app.invalid/').hash
    native(state, '')
    if (hash) location.hash = hash // the address of this frame takes nothing else
  }
}
Object.assign(History.prototype, { back() {}, forward() {}, go() {} }) // which lead the page away in Firefox

const write = (...texts) => document.body?.insertAdjacentHTML('beforeend', texts.join(''))
Object.assign(Document.prototype, { write, writeln: write, open: () => document, close: () => {} })

// ---- links and forms

addEventListener('click', event => {
  if (event.defaultPrevented || !(event.target instanceof Element)) return
  const link = event.target.closest('a[href], area[href]')
  const address = link?.getAttribute('href') ?? ''
  if (link && !address.startsWith('#')) {
    event.preventDefault()
    if (!/^javascript:/i.test(address)) report('left', { address: cut(address).slice(0, 200) })
    return
  }
  const button = event.target.closest('button, input[type="submit"], input[type="image"]')
  if (button?.form && !button.disabled && (button.type === 'submit' || button.type === 'image')) {
    event.preventDefault()
    submit(button.form, button)
  }
})

// A frame whose sandbox does not allow forms fires no submit event, on which apps rely.
function submit(form, submitter) {
  if (!form.noValidate && !submitter?.formNoValidate && !form.reportValidity()) return
  form.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true, submitter: submitter ?? null }))
}
HTMLFormElement.prototype.requestSubmit = function (submitter) {
  submit(this, submitter)
}
HTMLFormElement.prototype.submit = () => {}

// ---- what a reload keeps

const checkable = field => field.type === 'checkbox' || field.type === 'radio'
const isDirty = field => (checkable(field) ? field.checked !== field.defaultChecked : field instanceof HTMLSelectElement ? [...field.options].some(o => o.selected !== o.defaultSelected) : field.value !== field.defaultValue)

// named returns the fields that are kept: each with its key, and its number among those of the same key.
function named() {
  const all = [...document.querySelectorAll('input[name], textarea[name], select[name]')].filter(f => f.type !== 'password' && f.type !== 'file' && f.type !== 'hidden').slice(0, 200)
  const forms = new Map([...document.forms].map((form, i) => [form, i]))
  const seen = new Map()
  return all.map(field => {
    const key = (forms.get(field.form) ?? -1) + ' ' + field.type + ' ' + field.name + (field.type === 'radio' ? ' ' + field.value : '')
    const n = seen.get(key) ?? 0
    seen.set(key, n + 1)
    return { field, key, n }
  })
}

function stateNow() {
  const fields = named().filter(({ field }) => isDirty(field)).map(({ field, key, n }) => ({ key, n, value: checkable(field) ? field.checked : field.value.slice(0, 10000) }))
  return { x: scrollX, y: scrollY, hash: location.hash.slice(0, 2000), fields }
}

function restore({ x, y, fields }) {
  for (const { field, key, n } of fields.length ? named() : []) {
    const kept = fields.find(f => f.key === key && f.n === n)
    if (!kept) continue
    // Through the prototype's setter, so that a framework that watches the field notices.
    const name = checkable(field) ? 'checked' : 'value'
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), name).set.call(field, kept.value)
    field.dispatchEvent(new Event('input', { bubbles: true }))
    field.dispatchEvent(new Event('change', { bubbles: true }))
  }
  if (x || y) scrollTo(x, y)
}

// ---- starting

const modules = new Map()

async function run({ html, classic, entries, files, state }) {
  const start = performance.now()
  begin({ files })
  const { documentElement } = new DOMParser().parseFromString(html, 'text/html')
  document.replaceChild(document.adoptNode(documentElement), document.documentElement)
  if (state?.hash) location.hash = state.hash
  const adopted = performance.now()
  for (const { name, code } of classic) await attempt(() => evaluateScript(name, code))
  const load = loader(modules, entries)
  for (const entry of entries) await attempt(() => load(entry).done)
  document.dispatchEvent(new Event('DOMContentLoaded', { bubbles: true })) // both were over before the app began
  dispatchEvent(new Event('load'))
  const ran = performance.now()
  await drawn()
  if (state) restore(state)
  report('painted', { failures, times: { adopt: adopted - start, ran: ran - adopted, painted: performance.now() - ran } })
}

async function attempt(what) {
  try {
    await what()
  } catch (error) {
    reportError(error)
  }
}

function evaluateScript(name, code) {
  try {
    evaluate(`${code}\n//# sourceURL=${name}`)
  } catch (error) {
    throw error instanceof SyntaxError && !error.stack.includes(name) ? Object.assign(error, { inModule: name }) : error
  }
}

// What was drawn is visible in the task after an animation frame. A browser may hold back the
// frames of what is not shown, so that a timer is the other way out.
const drawn = () => new Promise(resolve => {
  requestAnimationFrame(() => setTimeout(resolve))
  setTimeout(resolve, 20)
})

addEventListener('message', event => {
  if (event.source !== outer) return
  // Modules come before the app, and some of them before it is known what is to be shown.
  for (const [name, module] of event.data?.modules ?? []) modules.set(name, module)
  if (event.data?.run) run(event.data.run)
  if (event.data?.asked === 'state') {
    let state = null
    try {
      state = stateNow()
    } catch {
      // an app may have changed anything; then nothing is kept
    }
    report('state', { state })
  }
})
document.currentScript?.remove()
report('ready')
