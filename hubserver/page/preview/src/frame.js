// The frame's program: it takes what the page sends, regenerates, links and shows the app. It
// knows no cookie, no token and no address of the hub.

import inner from 'text:./inner.js'
import worker from 'text:./worker.js'
import { Assets } from './assets.js'
import { Compiler } from './compile.js'
import { changesBetween } from './difference.js'
import { importMapOf, prepare, previewEntry, read } from './document.js'
import { Failure, pathOf } from './failure.js'
import { Generator } from './generate.js'
import { limits } from './limits.js'
import { link, nameOf } from './link.js'
import { clean, extension } from './paths.js'
import { spawn } from './probe.js'
import { compilerOptions, resolver } from './resolve.js'
import { basePathOf, unfold } from './settings.js'
import { Stage } from './show.js'

const page = window.parent
const tell = (type, data) => page.postMessage({ hub: type, ...data }, '*')
const failed = (n, { kind, message, file, line, column, trace }) =>
  tell('failed', { n, kind: kind ?? 'build', message: String(message).slice(0, limits.text), file, line, column, trace: trace?.slice(0, limits.text) })

const state = { files: new Map(), packages: new Map(), stack: null, api: 'null', saved: {}, draft: null, preview: null }
const compiler = new Compiler()
const assets = new Assets()
let generator = new Generator(null, compiler, worker)
let started = spawn(worker) // for the first stack: starting one takes a while
let savedArtifacts = null // of the saved config; null: not known
let latest = 0

const linked = new Map() // modules of scripts, see link.js
let resolving = { key: '' }
const stage = new Stage(inner, {
  painted: (view, times) => tell('painted', { n: view.n, times }),
  failed: (view, failure) => failed(view.n, failure),
  printed: (view, said) => print(view.n, said),
  left: (view, address) => tell('left', { n: view.n, address }),
})

let lines = 0 // that the newest update has printed
function print(n, { level, text }) {
  if (n === latest && ++lines <= limits.notes) tell('printed', { n, level: String(level).slice(0, 10), text: String(text).slice(0, limits.text) })
}

/** take adds what a message has to the state. */
function take(m) {
  if (m.files) state.files = m.files
  for (const [path, content] of m.changed ?? []) content === null ? state.files.delete(path) : state.files.set(path, content)
  for (const name of ['packages', 'api', 'saved', 'draft', 'preview']) if (m[name] !== undefined) state[name] = m[name]
  if (m.stack) {
    generator.stop()
    state.stack = m.stack
    generator = new Generator(m.stack, compiler, worker, started)
    started = null
  }
  if (m.stack || m.api !== undefined || m.saved) savedArtifacts = null
}

const inputOf = config => {
  const settings = unfold(config)
  return { api: state.api, config, settings, basePath: basePathOf(settings) }
}

async function regenerate(n) {
  const draft = state.draft !== null
  if (savedArtifacts === null && draft) {
    try {
      savedArtifacts = (await generator.generate(inputOf(state.saved))).artifacts
    } catch {
      savedArtifacts = null // the draft may be what repairs it
    }
  }
  const output = await generator.generate(inputOf(state.draft ?? state.saved), said => print(n, said))
  if (!draft) savedArtifacts = output.artifacts
  return output
}

async function update(n) {
  const start = performance.now()
  const compiled = compiler.count
  const output = await regenerate(n)
  if (n !== latest) return
  const generated = performance.now()
  const built = await build(output)
  if (n !== latest) return
  const notes = [...output.notes, ...built.replaced.slice(0, limits.notes).map(path => ({ level: 'info', at: '', text: `${path} replaces the base file of the same path` }))]
  tell('generated', {
    n, count: output.artifacts.size, previews: output.previews, notes: notes.slice(0, limits.notes),
    changes: savedArtifacts ? changesBetween(savedArtifacts, output.artifacts, limits.shownChanges) : null,
  })
  const times = { generate: generated - start, link: performance.now() - generated, compiled: compiler.count - compiled, modules: built.modules.size }
  stage.show({ ...built, n, times, files: hubFiles() })
}

const hubFiles = () => new Map([['/@hub/config.json', JSON.stringify(state.draft ?? state.saved)], ['/@hub/api.json', state.api]])

/** build links the base files with the artifacts. */
async function build({ artifacts, previews }) {
  const files = new Map(state.files)
  for (const [path, text] of hubFiles()) files.set(path.slice(1), text)
  const replaced = []
  for (const [path, text] of artifacts) {
    if (files.has(path)) replaced.push(path)
    files.set(path, text)
  }
  const parsed = read(files)
  const importMap = importMapOf(parsed)
  const options = compilerOptions(files)
  const key = JSON.stringify([importMap, options, [...files.keys()], [...state.packages.keys()]])
  if (key !== resolving.key) resolving = { key, resolve: resolver(files, { importMap, packages: state.packages, options }) }
  const { resolve } = resolving
  const jsxImportSource = String(options.jsxImportSource ?? 'react')
  const context = { files, resolve, assets, linked, missing, packages: state.packages, compile: (path, source) => compiler.compile(path, source, 'build', jsxImportSource) }
  const { entries, classic } = prepare(parsed, context)
  const preview = previews.find(p => p.name === state.preview)
  if (preview) entries.splice(0, entries.length, previewEntry({ ...preview, module: clean(preview.module) ?? preview.module }, stylesOf(await link(entries, context)), context))
  return { html: parsed.document.documentElement.outerHTML, classic, entries: entries.map(nameOf), modules: await link(entries, context), replaced, main: entries[0] }
}

const stylesOf = modules => [...modules.keys()].map(pathOf).filter(path => extension(path) === 'css')

/** missing says why a file that an import names may not be there. */
function missing(path) {
  if (!state.stack || state.stack.module) return ''
  return `: ${path} would have been generated, and version ${state.stack.version} of the stack ${state.stack.name} has no preview module`
}

let turn = Promise.resolve()
addEventListener('message', event => {
  if (event.source !== page || typeof event.data !== 'object' || event.data === null) return
  const m = event.data
  if (m.hub === 'ping') return tell('pong', { id: m.id })
  if (m.hub !== 'update') return
  take(m)
  const n = (latest = m.n)
  lines = 0
  turn = turn.then(async () => {
    if (n !== latest) return // a newer one is waiting
    try {
      await update(n)
    } catch (error) {
      failed(n, error instanceof Failure ? error : new Failure('build', `the preview itself failed: ${error?.message ?? error}`, { trace: String(error?.stack ?? '') }))
    }
  })
})
tell('ready', {})
stage.prepare(new Map()) // which takes a while, and so does what the page sends now
