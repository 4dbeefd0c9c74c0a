// Linking: every file that the app needs becomes a CommonJS module with a name of its own.

import { isScript } from './compile.js'
import { styleOf } from './css.js'
import { buildFailure } from './failure.js'
import { jsonModule, valueModule } from './json.js'
import { limits, mebibytes, textOf } from './limits.js'
import { clean, extension, folder } from './paths.js'

/** nameOf returns the name of a file's module. */
export const nameOf = path => 'app:/' + encodeURI(path).replace(/[?#]/g, encodeURIComponent)

const own = '@hub/'

// @hub/config.json and @hub/api.json are files.
const isPackage = (path, context) => path.startsWith(own) && context.packages.has(path.slice(own.length))

/**
 * link returns the modules that entries need: a map from the name of each to {code, imports},
 * as load.js runs them. context has files, packages, resolve, compile(path, source), assets,
 * missing(name, importer) with more words about a file that does not exist, and linked, a map
 * in which the modules of scripts are kept: one stays the same while its source and resolve do.
 */
export async function link(entries, context) {
  const modules = new Map()
  const queue = [...entries]
  let turn = performance.now()
  while (queue.length) {
    const path = queue.pop()
    const name = nameOf(path)
    if (modules.has(name)) continue
    if (performance.now() - turn > 100) { // the page takes a frame that does not respond for a while as hung
      await new Promise(resolve => setTimeout(resolve))
      turn = performance.now()
    }
    modules.set(name, moduleOf(path, context, queue))
  }
  return modules
}

function moduleOf(path, context, queue) {
  if (isPackage(path, context)) {
    const { code, imports } = context.packages.get(path.slice(own.length))
    queue.push(...imports.map(name => own + name))
    return { code, imports: new Map(imports.map(name => [name, nameOf(own + name)])) }
  }
  const [file, query] = path.split('?', 2)
  const source = context.files.get(file)
  if (source.size !== undefined) throw buildFailure(`${file} is ${mebibytes(source.size)}: the preview embeds files of at most ${mebibytes(limits.linkedFile)}`, file)
  if (query === 'raw') return valueModule(JSON.stringify(textOf(source)))
  if (query !== 'url') {
    if (isScript(file)) return scriptModule(file, context, queue)
    if (extension(file) === 'css') return styleModule(file, context, query)
    if (extension(file) === 'json') return jsonModule(file, textOf(source), 'build')
  }
  return valueModule(JSON.stringify(context.assets.address(file, source, file)))
}

function scriptModule(path, context, queue) {
  const source = context.files.get(path)
  let kept = context.linked.get(path)
  if (kept?.source !== source || kept.resolve !== context.resolve) {
    const { code, imports } = context.compile(path, textOf(source))
    const targets = imports.map(({ specifier, line }) => [specifier, targetOf(specifier, path, line, context)])
    kept = { source, resolve: context.resolve, targets, module: { code, imports: new Map(targets.map(([specifier, target]) => [specifier, nameOf(target)])) } }
    context.linked.set(path, kept)
  }
  queue.push(...kept.targets.map(([, target]) => target))
  return kept.module
}

function targetOf(specifier, importer, line, context) {
  if (/^(https?|data|blob|file):|^\/\//i.test(specifier)) {
    throw buildFailure(`imports ${specifier.slice(0, 200)}: the preview loads nothing from other addresses`, importer, line)
  }
  const file = context.resolve(specifier, importer)
  if (!file) throw buildFailure(missing(specifier, importer, context), importer, line)
  const query = specifier.match(/\?(raw|url|inline)\b/)
  return query ? `${file}?${query[1]}` : file
}

function missing(specifier, importer, context) {
  if (/^\.{0,2}\//.test(specifier)) {
    const path = clean(specifier.startsWith('/') ? specifier : folder(importer) + specifier)
    return `there is no file ${path ?? specifier}${context.missing(path ?? specifier)}`
  }
  const packages = [...context.packages.keys()].join(', ')
  return `the package "${specifier}" is not in the app: put it in the tree with an import map in index.html, or use one of the hub's packages (${packages})`
}

function styleModule(path, context, query) {
  const style = JSON.stringify(styleOf(path, context))
  if (query === 'inline') return valueModule(style)
  const names = path.endsWith('.module.css') ? 'new Proxy({}, { get: (_, name) => name })' : style
  return valueModule(names, `const style = document.createElement('style'); style.textContent = ${style}; document.head.append(style); `)
}
