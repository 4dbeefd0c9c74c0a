// The next frame of the app is made behind the present one, and takes its place when it has
// painted. A frame that failed before it painted never takes it.

import { Failure, locate } from './failure.js'
import { fileOf } from './document.js'
import { limits } from './limits.js'

const style = 'position:fixed;inset:0;width:100%;height:100%;border:0;background:#fff;'
const patience = 1000 // ms for which the shown app may take to say what it shows: it is busy, or navigated away

/** Stage holds the frame that is shown and the one that is being made. */
export class Stage {
  shown = null
  next = null
  #kept = null // the view before the shown one

  /** on has painted(view) and failed(view, failure); boot is the text of inner.js. */
  constructor(boot, on) {
    Object.assign(this, { boot, on })
    addEventListener('message', event => this.#receive(event))
  }

  /** show makes a frame of {n, html, modules, entries, files, times}. */
  show(view) {
    this.next?.frame.remove()
    this.#make(view, this.#stateOfShown())
  }

  #make(view, state) {
    const frame = document.createElement('iframe')
    frame.sandbox = 'allow-scripts'
    frame.referrerPolicy = 'no-referrer'
    frame.title = 'App'
    frame.style.cssText = style + 'visibility:hidden'
    frame.srcdoc = `<!doctype html>${view.html.replace(/<head[^>]*>/i, head => `${head}<script>${this.boot}</script>`)}`
    const made = { view, frame, state, start: performance.now(), loads: 0, painted: 0 }
    frame.onload = () => this.#loaded(made)
    this.next = made
    document.body.append(frame)
  }

  // A second load of a frame means that the app navigated: what it showed is gone.
  #loaded(made) {
    if (++made.loads === 1) return
    const failure = new Failure('app', 'the app navigated away from its page, which the preview does not follow', { file: made.view.main })
    if (made === this.next) this.#fail(made, failure)
    if (made !== this.shown) return
    this.on.failed(made.view, failure)
    const stable = performance.now() - made.painted > 1000 ? made.view : this.#kept
    if (stable && !made.view.restored) this.#make({ ...stable, restored: true }, null)
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
    const made = [this.next, this.shown].find(f => f && f.frame.contentWindow === event.source)
    if (!made || typeof event.data !== 'object' || event.data === null) return
    const { inner } = event.data
    if (inner === 'ready') this.#start(made)
    else if (inner === 'error') this.#error(made, event.data)
    else if (inner === 'left') this.on.left(made.view, String(event.data.address).slice(0, 200))
    else if (inner === 'painted' && made === this.next) this.#swap(made, event.data)
    else if (inner === 'state' && made === this.shown) this.answer?.(stateOf(event.data.state))
  }

  async #start(made) {
    if (made.started) return
    made.started = performance.now()
    const { map, entries, files } = made.view
    const state = await made.state
    made.frame.contentWindow?.postMessage({ run: { map, entries, files, state } }, '*')
  }

  #error(made, data) {
    if (++made.errors > 20) return
    const { message, file, line, column, trace } = errorOf(data, made.view)
    const failure = new Failure('app', message, { file: file ?? made.view.main, line, column, trace })
    made.failed = true
    this.on.failed(made.view, failure)
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

const number = v => (Number.isFinite(v) ? v : 0)
const text = (v, most) => String(v ?? '').slice(0, most)
const numbers = times => Object.fromEntries(['map', 'ran', 'painted'].map(name => [name, number(times?.[name])]))

// The app runs in the frame that says this, so that all of it may be made up.
function stateOf(state) {
  if (typeof state !== 'object' || state === null || !Array.isArray(state.fields)) return null
  return {
    x: number(state.x), y: number(state.y), hash: /^#/.test(state.hash) ? text(state.hash, 2000) : '',
    fields: state.fields.slice(0, limits.restored).map(f => ({ key: text(f?.key, 500), n: number(f?.n), value: typeof f?.value === 'boolean' ? f.value : text(f?.value, 10000) })),
  }
}

/** errorOf reads what the app's frame says about an error. */
export function errorOf({ name, message, trace, address, line, column }, view) {
  const at = locate(trace)
  const said = text(message, limits.text)
  const out = { message: name && name !== 'Error' && !said.startsWith(text(name, 100)) ? `${text(name, 100)}: ${said}` : said, trace: text(trace, limits.text) }
  if (at.line) return { ...out, ...at, file: fileOf(at.file) }
  const source = text(address, 1e7)
  const linked = locate(`${source}:${number(line)}:${number(column)}`)
  const file = linked.file ?? view.fileAt?.(source)
  return { ...out, file: fileOf(file), line: file ? number(line) || undefined : undefined, column: file ? number(column) || undefined : undefined }
}

