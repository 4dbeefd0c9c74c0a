// What runs in the worker: the stack's module, without any way to reach beyond it. It is
// built into one text of its own. The first message is the program, each later one an input.

import { hear } from './console.js'
import { loader } from './load.js'

const post = self.postMessage.bind(self)
const parse = JSON.parse

// The globals of ECMAScript 2022, and console. Everything else that a browser has is removed.
const kept = new Set([
  'Object', 'Function', 'Array', 'Number', 'parseFloat', 'parseInt', 'Infinity', 'NaN', 'undefined', 'Boolean', 'String', 'Symbol', 'Date', 'Promise', 'RegExp',
  'Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError', 'globalThis', 'JSON', 'Math', 'Intl',
  'ArrayBuffer', 'Atomics', 'Uint8Array', 'Int8Array', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array', 'Float32Array', 'Float64Array', 'Uint8ClampedArray', 'BigUint64Array', 'BigInt64Array',
  'DataView', 'Map', 'BigInt', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'Proxy', 'Reflect', 'SharedArrayBuffer',
  'decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape', 'eval', 'isFinite', 'isNaN', 'console',
])
self.onmessage = event => receive(event)
for (let at = self; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
  for (const name of Object.getOwnPropertyNames(at)) {
    if (kept.has(name) || name === 'constructor' || name === 'onmessage') continue
    try {
      if (!delete at[name]) Object.defineProperty(at, name, { value: undefined })
    } catch {
      // what cannot be removed is kept from the network by the frame's policy
    }
  }
}

let program, entry, load, run
const hearAgain = hear(printed => post({ run, printed }))

const said = error => ({
  name: String(error?.name ?? 'Error').slice(0, 200), message: String(error?.message ?? error).slice(0, 4000),
  trace: String(error?.stack ?? '').slice(0, 4000), module: error?.inModule === undefined ? undefined : String(error.inModule),
})

async function receive({ data }) {
  if (data.program) {
    ({ program, entry } = data)
    load = loader(program)
    return
  }
  run = data.run
  hearAgain()
  try {
    const { toArtifacts } = load(entry).exports
    if (typeof toArtifacts !== 'function') throw new Error('the module does not export a function toArtifacts')
    const out = await toArtifacts({ ...parse(data.input), api: parse(data.api) })
    post({ run, output: plain(out) })
  } catch (error) {
    load = loader(program) // the next run is to fail in the same way
    post({ run, failed: said(error) })
  }
}

// Objects are listed as pairs, so that no name is special.
function plain(out) {
  if (typeof out !== 'object' || out === null) return { odd: `toArtifacts returned ${out === null ? 'null' : typeof out}, not an object` }
  const { artifacts, previews, notes } = out
  if (typeof artifacts !== 'object' || artifacts === null) return { odd: 'toArtifacts returned an object without artifacts, a map from paths to texts' }
  const pairs = artifacts instanceof Map ? [...artifacts] : Object.entries(artifacts)
  return { artifacts: pairs.map(([path, text]) => [String(path), typeof text === 'string' ? text : { type: typeof text }]), previews: list(previews), notes: list(notes) }
}

function list(v) {
  if (v === undefined || v === null) return []
  if (!Array.isArray(v)) return { type: typeof v }
  return v.map(o => (typeof o === 'object' && o !== null ? parse(JSON.stringify(o)) : { type: typeof o }))
}
