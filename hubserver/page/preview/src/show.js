// The next frame of the app is made behind the present one, while nothing else is to do, and
// takes its place when it has painted. A frame that failed before it painted never takes it.

import { Failure, locate, pathOf } from './failure.js'
import { fileOf } from './document.js'
import { limits } from './limits.js'
import { syntaxLine } from './probe.js'

const style = 'position:fixed;inset:0;width:100%;height:100%;border:0;background:#fff;'
const patience = 1000 // ms for which the shown app may take to say what it shows: it is busy, or navigated away

// Where a browser has no time that it calls idle, the app gets some to become visible first.
const idle = window.requestIdleCallback ?? (work => setTimeout(work, 20))

/** Stage holds the frame that is shown, the one that is being made, and one for the view after it. */
export class Stage {
  shown = null
  next = null
  #spare = null
  #kept = null // the view before the shown one

  /** on has painted(view), printed(view, {level, text}) and failed(view, failure); boot is the text of inner.js. */
  constructor(boot, on) {
    // Always the same: an app is data, which boot makes the document of and runs. The frame's
    // policy lets boot run, and no other script, in this frame and in those within it.
    this.document = `<!doctype html><meta http-equiv="Content-Security-Policy" content="worker-src 'none'"><script>${boot}</script>`
    this.on = on
    addEventListener('message', event => this.#receive(event))
  }

  /** show makes a frame of {n, html, classic, modules, entries, files, times}. */
  show(view) {
    this.next?.frame.remove()
    this.#make(view, this.#stateOfShown())
  }

  #make(view, state) {
    const made = this.#spare ?? this.#frame()
    this.#spare = null
    this.next = Object.assign(made, { view, state, start: performance.now() })
    made.ready.then(() => this.#start(made))
  }

  // A frame is ready once boot runs in it. It keeps the modules that it was sent.
  #frame() {
    const frame = document.createElement('iframe')
    frame.sandbox = 'allow-scripts'
    frame.referrerPolicy = 'no-referrer'
    frame.title = 'App'
    frame.style.cssText = style + 'visibility:hidden'
    frame.srcdoc = this.document
    const made = { frame, modules: new Map(), loads: 0, painted: 0, errors: 0, left: 0 }
    made.ready = new Promise(resolve => (made.isReady = resolve))
    frame.onload = () => this.#loaded(made)
    document.body.append(frame)
    return made
  }

  /** prepare makes a frame for the next view before there is one, and sends it the modules that are known to be in it. */
  async prepare(modules) {
    const made = (this.#spare ??= this.#frame())
    await made.ready
    if (made === this.#spare) this.#send(made, modules)
  }

  #send(made, modules) {
    const changed = changedModules(made.modules, modules)
    made.modules = modules
    if (changed.size > 0) made.frame.contentWindow?.postMessage({ modules: changed }, '*')
  }

  // A second load of a frame means that the app navigated: what it showed is gone.
  #loaded(made) {
    if (++made.loads === 1) return
    const failure = new Failure('app', 'the app navigated away from its page, which the preview does not follow', { file: made.view.main })
    if (made === this.next) this.#fail(made, failure)
    if (made !== this.shown) return
    this.on.failed(made.view, failure)
    const stable = performance.now() - made.painted > 1000 ? made.view : this.#kept
    if (!this.next && stable && !made.view.restored) this.#make({ ...stable, restored: true }, null)
    else made.frame.remove()
  }

  #fail(made, failure) {
    this.on.failed(made.view, failure)
    if (this.shown) {
      made.frame.remove()
      this.next = null
    }
  }

  #receive(event) {
    const made = [this.next, this.shown, this.#spare].find(f => f && f.frame.contentWindow === event.source)
    if (!made || typeof event.data !== 'object' || event.data === null) return
    const { inner } = event.data
    if (inner === 'ready') made.isReady()
    else if (!made.view) return
    else if (inner === 'error') this.#error(made, event.data)
    else if (inner === 'printed' && !made.view.restored) this.on.printed(made.view, event.data) // a view that is shown again has said this before
    else if (inner === 'left' && ++made.left <= limits.notes) this.on.left(made.view, text(event.data.address, 200))
    else if (inner === 'painted' && made === this.next) this.#swap(made, event.data)
    else if (inner === 'state' && made === this.shown) this.answer?.(stateOf(event.data.state))
  }

  async #start(made) {
    made.started = performance.now()
    const { html, classic, modules, entries, files } = made.view
    const state = await made.state
    this.#send(made, modules)
    made.frame.contentWindow?.postMessage({ run: { html, classic, entries, files, state } }, '*')
  }

  async #error(made, data) {
    if (++made.errors > 20) return
    made.failed = true
    const { message, file, line, column, trace, code } = errorOf(data, made.view)
    this.on.failed(made.view, new Failure('app', message, { file: file ?? made.view.main, line: code ? await syntaxLine(code) : line, column, trace }))
  }

  #swap(made, { times }) {
    this.next = null
    if (made.failed && this.shown) return made.frame.remove()
    made.frame.style.visibility = 'visible'
    this.shown?.frame.remove()
    if (this.shown && !this.shown.failed) this.#kept = this.shown.view
    this.shown = made
    made.painted = performance.now()
    this.on.painted(made.view, { ...made.view.times, ...numbers(times), show: made.painted - made.start, boot: made.started - made.start })
    idle(() => this.prepare(made.view.modules))
  }

  #stateOfShown() {
    if (!this.shown) return null
    return new Promise(resolve => {
      const done = state => {
        this.answer = null
        clearTimeout(timer)
        resolve(state)
      }
      const timer = setTimeout(done, patience, null)
      this.answer = done
      this.shown.frame.contentWindow?.postMessage({ asked: 'state' }, '*')
    })
  }
}

const same = (a, b) => a === b || (a?.code === b.code && JSON.stringify([...a.imports]) === JSON.stringify([...b.imports]))

// Those of after that a frame does not have which has before.
const changedModules = (before, after) => new Map([...after].filter(([name, module]) => !same(before.get(name), module)))

const number = v => (Number.isFinite(v) ? v : 0)
const text = (v, most) => (typeof v === 'string' ? v.slice(0, most) : '')
const numbers = times => Object.fromEntries(['adopt', 'ran', 'painted'].map(name => [name, number(times?.[name])]))

// The app runs in the frame that says this, so that all of it may be made up.
function stateOf(state) {
  if (typeof state !== 'object' || state === null || !Array.isArray(state.fields)) return null
  return {
    x: number(state.x), y: number(state.y), hash: text(state.hash, 2000),
    fields: state.fields.slice(0, limits.restored).map(f => ({ key: text(f?.key, 500), n: number(f?.n), value: typeof f?.value === 'boolean' ? f.value : text(f?.value, 10000) })),
  }
}

/**
 * errorOf reads what the app's frame says about an error. With code, a module that is malformed
 * there, the line is still to be found.
 */
export function errorOf({ name, message, trace, module, address, line, column }, { modules, classic }) {
  const said = text(message, limits.text)
  const out = { message: name && name !== 'Error' && !said.startsWith(text(name, 100)) ? `${text(name, 100)}: ${said}` : said, trace: text(trace, limits.text) }
  const code = modules?.get(module)?.code ?? classic?.find(s => s.name === module)?.code
  if (code) return { ...out, code, file: fileOf(pathOf(module)) }
  const at = locate(out.trace)
  const { file, ...position } = at.line ? at : locate(`${text(address, limits.path)}:${number(line)}:${number(column)}`)
  return { ...out, ...position, file: fileOf(file) }
}
