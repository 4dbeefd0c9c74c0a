// The page's side of one preview frame: it makes the element, hands it what it needs, replaces
// it when it stops responding, and passes on what it says.

import { read } from './messages.js'

const beat = 500 // ms between two signs of life
const settled = 2000 // ms for which a view must have responded to count as good
const flood = 2000 // messages a second from an app that count as an attack

/**
 * Host is one preview. on is called with each message of the frame, and with
 * {type: 'replaced'} when the element was replaced. A frame that gives no sign of life for
 * patience ms counts as hung, also one whose process ended. What is painted after that has the
 * number of the update that failed: a failure counts until a later update is painted.
 */
export class Host {
  #n = 0
  #all = {} // the newest of everything, for a new element
  #good = null // what was shown when it last responded for a while
  #next = null // what a frame is sent when it is ready
  #ready = false
  #heard = 0
  #painted = 0
  #strange = 0
  #sent = 0 // when the last update was
  #posted = null // what the element was sent, of everything

  constructor(place, address, on, patience = 3000) {
    Object.assign(this, { place, address, on, patience })
    this.receive = event => this.#receive(event)
    addEventListener('message', this.receive)
    this.timer = setInterval(() => this.#check(), beat)
    this.#make()
  }

  /** update sends what changed; members are those of the contract in the frame's README. */
  update(change) {
    const all = { ...this.#all, ...change }
    if (change.files) delete all.changed
    if (change.changed && this.#all.files) {
      all.files = new Map(this.#all.files)
      for (const [path, content] of change.changed) content === null ? all.files.delete(path) : all.files.set(path, content)
      delete all.changed
    }
    const isBehind = this.#posted !== this.#all
    this.#all = all
    this.#n++
    this.#sent = performance.now()
    if (!this.#ready) this.#next = all
    else this.#post(isBehind ? all : change, all)
    return this.#n
  }

  /** end removes the frame. */
  end() {
    removeEventListener('message', this.receive)
    clearInterval(this.timer)
    this.frame.remove()
  }

  /** number is that of the last update. */
  get number() {
    return this.#n
  }

  #post(message, all) {
    this.#posted = all
    this.frame.contentWindow?.postMessage({ ...message, hub: 'update', n: this.#n }, '*')
  }

  #make() {
    const frame = document.createElement('iframe')
    frame.setAttribute('sandbox', 'allow-scripts')
    frame.setAttribute('allow', '')
    frame.referrerPolicy = 'no-referrer'
    frame.title = 'Preview of the app'
    frame.src = this.address
    this.#ready = false
    this.#posted = null
    this.#heard = performance.now()
    this.#strange = 0
    if (this.frame) this.frame.replaceWith(frame)
    else this.place.append(frame)
    this.frame = frame
  }

  #receive(event) {
    if (event.source !== this.frame.contentWindow) {
      this.#strange++ // counted before its data is looked at, which may be large
      return
    }
    const message = read(event.data)
    if (!message) return
    this.#heard = performance.now()
    if (message.type === 'pong') return
    if (message.type === 'ready') return this.#begin()
    if (message.n !== this.#n && message.type !== 'failed') return // of an older update
    if ((message.type === 'generated' || message.type === 'printed') && this.#posted !== this.#all) return // of the good view, not of the newest
    if (message.type === 'painted') this.#painted = performance.now()
    this.on(message)
  }

  #begin() {
    if (this.#ready) return
    this.#ready = true
    this.#strange = 0
    this.on({ type: 'ready' })
    const next = this.#next
    this.#next = null
    if (next) this.#post(next, next)
  }

  // A page that is not visible gets few turns, and so do its frames.
  #check() {
    const now = performance.now()
    const strange = this.#strange
    this.#strange = 0
    if (document.visibilityState !== 'visible') {
      this.#heard = now
      return
    }
    // Until the frame is ready, what still comes was sent by the app before it.
    if (this.#ready && strange > flood * beat / 1000) return this.#replace('the app sends more messages than the page takes')
    if (this.#ready && now - this.#heard > this.patience) return this.#replace('the app stopped responding')
    if (this.#painted && this.#painted > this.#sent && now - this.#painted > settled && now - this.#heard < beat * 2) this.#good = this.#posted
    if (this.#ready) this.frame.contentWindow?.postMessage({ hub: 'ping', id: 1 }, '*')
  }

  // The element is never used again: an endless loop in it cannot be ended from outside.
  #replace(message) {
    const bad = this.#posted
    const changed = bad?.files && this.#good?.files ? [...bad.files].filter(([path, content]) => this.#good.files.get(path) !== content).map(([path]) => path) : []
    this.#make()
    this.#painted = 0
    this.on({ type: 'failed', n: this.#n, kind: 'hang', message, file: changed[0] ?? '', line: 0, column: 0, trace: '' })
    this.on({ type: 'replaced' })
    this.#next = this.#good === bad ? null : this.#good // what hung once may hang again
    this.#good = null
  }
}
