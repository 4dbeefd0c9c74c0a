// What a stack's module returned, checked against the contract before anything is done with it.

import { Failure } from './failure.js'
import { bytesOf, limits, mebibytes } from './limits.js'
import { faultOf, quoted } from './paths.js'

const text = v => (typeof v === 'string' ? v.slice(0, limits.text) : undefined)
const fail = (message, module) => new Failure('generate', message, { file: module })

/**
 * outputOf returns {artifacts: Map, previews, notes} of what the worker sent. module is the
 * file that is named in a failure.
 */
export function outputOf(sent, module) {
  if (typeof sent !== 'object' || sent === null || sent.odd !== undefined || !Array.isArray(sent.artifacts)) {
    throw fail(text(sent?.odd) ?? 'toArtifacts returned nothing usable', module)
  }
  if (sent.artifacts.length > limits.artifacts) {
    throw fail(`toArtifacts returned ${sent.artifacts.length} artifacts: at most ${limits.artifacts} are allowed`, module)
  }
  return { artifacts: artifactsOf(sent.artifacts, module), previews: previewsOf(sent.previews, module), notes: notesOf(sent.notes, module) }
}

function artifactsOf(pairs, module) {
  const artifacts = new Map()
  let size = 0
  for (const [path, content] of pairs) {
    const fault = faultOf(path)
    if (fault) throw fail(`the path of the artifact ${quoted(path)} ${fault}`, module)
    if (typeof content !== 'string') throw fail(`the artifact ${quoted(path)} is ${content?.type === 'object' ? 'an object' : `of type ${content?.type}`}, not a text`, module)
    size += content.length > limits.artifactBytes ? content.length : bytesOf(content)
    if (size > limits.artifactBytes) throw fail(`the artifacts are larger than ${mebibytes(limits.artifactBytes)} together`, module)
    artifacts.set(path, content)
  }
  for (const path of artifacts.keys()) {
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      if (artifacts.has(path.slice(0, slash))) throw fail(`the artifact ${quoted(path.slice(0, slash))} is also a folder, of ${quoted(path)}`, module)
    }
  }
  return artifacts
}

function listOf(what, list, most, module) {
  if (!Array.isArray(list)) throw fail(`${what} must be an array`, module)
  if (list.length > most) throw fail(`toArtifacts returned ${list.length} ${what}: at most ${most} are allowed`, module)
  return list
}

function previewsOf(list, module) {
  return listOf('previews', list ?? [], limits.previews, module).map(({ name, group, module: file, export: exported }, i) => {
    if (![name, file, exported].every(v => typeof v === 'string' && v)) throw fail(`previews[${i}] must have a name, a module and an export`, module)
    return { name: text(name), group: text(group) ?? '', module: file, export: exported }
  })
}

function notesOf(list, module) {
  return listOf('notes', list ?? [], limits.notes, module).map(({ level, at, text: said }, i) => {
    if (typeof said !== 'string') throw fail(`notes[${i}] must have a text`, module)
    return { level: level === 'warn' || level === 'error' ? level : 'info', at: text(at) ?? '', text: text(said) }
  })
}
