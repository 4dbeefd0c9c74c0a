// Linking: every module gets an address of its own, and an import map from its name to that
// address, so that modules may import each other in a circle.

import { parse } from 'es-module-lexer/minimal/js'
import { isScript } from './compile.js'
import { styleOf } from './css.js'
import { buildFailure, lineAt } from './failure.js'
import { faultAt } from './json.js'
import { limits, mebibytes, textOf } from './limits.js'
import { clean, extension, folder } from './paths.js'

/** nameOf returns the specifier under which a file is linked. */
export const nameOf = path => 'app:/' + encodeURI(path).replace(/[?#]/g, encodeURIComponent)

const meta = path => `({url: ${JSON.stringify(nameOf(path))}, env: {MODE: "preview", DEV: true, PROD: false, SSR: false, BASE_URL: "/"}})`
const own = '@hub/'

// @hub/config.json and @hub/api.json are files.
const isPackage = (path, context) => path.startsWith(own) && context.packages.has(path.slice(own.length))

/** Linker keeps the modules that it linked, as long as nothing about them changes. */
export class Linker {
  #addresses = new Map() // by path: {code, address}
  #imports = new Map() // by path: {code, imports}

  /**
   * link returns the modules that entries need: a map from the name of each to its address.
   * context has files, packages, resolve, compile(path, source), assets, and
   * missing(name, importer) with more words about a file that does not exist.
   */
  async link(entries, context) {
    const modules = new Map()
    const queue = [...entries]
    this.#turn = performance.now()
    while (queue.length) {
      const path = queue.pop()
      if (modules.has(path)) continue
      await this.#pause()
      modules.set(path, this.#address(path, this.#module(path, context, queue)))
    }
    for (const path of this.#addresses.keys()) if (!modules.has(path)) this.#addresses.delete(path)
    return new Map([...modules].map(([path, address]) => [nameOf(path), address]))
  }

  // The page takes a frame that does not respond for a while as hung.
  async #pause() {
    const now = performance.now()
    if (now - this.#turn < 100) return
    await new Promise(resolve => setTimeout(resolve))
    this.#turn = performance.now()
  }
  #turn = 0

  #address(path, code) {
    const kept = this.#addresses.get(path)
    if (kept?.code === code) return kept.address
    const address = 'data:text/javascript,' + encodeURIComponent(`${code}\n//# sourceURL=${nameOf(path)}`)
    this.#addresses.set(path, { code, address })
    return address
  }

  #module(path, context, queue) {
    if (isPackage(path, context)) return this.#script(path, context.packages.get(path.slice(own.length)), context, queue)
    const [file, query] = path.split('?', 2)
    const source = context.files.get(file)
    if (source.size !== undefined) throw buildFailure(`${file} is ${mebibytes(source.size)}: the preview embeds files of at most ${mebibytes(limits.linkedFile)}`, file)
    if (query === 'raw') return `export default ${JSON.stringify(textOf(source))}`
    if (query === 'url') return `export default ${JSON.stringify(context.assets.address(file, source, file))}`
    if (isScript(file)) return this.#script(file, context.compile(file, textOf(source)), context, queue)
    if (extension(file) === 'css') return styleModule(file, context, query)
    if (extension(file) === 'json') return jsonModule(file, textOf(source))
    return `export default ${JSON.stringify(context.assets.address(file, source, file))}`
  }

  #script(path, code, context, queue) {
    let out = ''
    let at = 0
    for (const i of this.#parse(path, code)) {
      if (i.d === -2) {
        out += code.slice(at, i.s) + meta(path)
        at = i.e
        continue
      }
      if (i.n === undefined) continue // import(expression) is resolved when it runs
      const target = targetOf(i.n, path, () => lineAt(code, i.s), context)
      queue.push(target)
      const name = nameOf(target)
      out += code.slice(at, i.s) + (i.d > -1 ? JSON.stringify(name) : name)
      at = i.e
      if (i.a > -1) { // every module is JavaScript here, so that no attribute fits
        const end = i.d > -1 ? i.se - 1 : i.se
        out += (i.d > -1 ? '' : code[i.e]) + code.slice(i.e + 1, end).replace(/[^\n]/g, '')
        at = end
      }
    }
    return out + code.slice(at)
  }

  #parse(path, code) {
    const kept = this.#imports.get(path)
    if (kept?.code === code) return kept.imports
    let imports
    try {
      [imports] = parse(code)
    } catch (error) {
      throw buildFailure(`malformed import or export`, path, error.idx === undefined ? undefined : lineAt(code, error.idx))
    }
    this.#imports.set(path, { code, imports })
    return imports
  }
}

function targetOf(specifier, importer, line, context) {
  if (isPackage(importer, context)) {
    return own + specifier.replace(/^\.\//, '') // they are all in one folder
  }
  if (/^(https?|data|blob|file):|^\/\//i.test(specifier)) {
    throw buildFailure(`imports ${specifier.slice(0, 200)}: the preview loads nothing from other addresses`, importer, line())
  }
  const file = context.resolve(specifier, importer)
  if (!file) throw buildFailure(missing(specifier, importer, context), importer, line())
  const query = specifier.match(/\?(raw|url|inline)\b/)
  return query ? `${file}?${query[1]}` : file
}

function missing(specifier, importer, context) {
  if (/^\.{0,2}\//.test(specifier)) {
    const path = clean(specifier.startsWith('/') ? specifier : folder(importer) + specifier)
    return `there is no file ${path ?? specifier}${context.missing(path ?? specifier)}`
  }
  const packages = [...context.packages.keys()].filter(name => !name.startsWith('chunk-')).join(', ')
  return `the package "${specifier}" is not in the app: put it in the tree with an import map in index.html, or use one of the hub's packages (${packages})`
}

function styleModule(path, context, query) {
  const style = JSON.stringify(styleOf(path, context))
  if (query === 'inline') return `export default ${style}`
  const names = path.endsWith('.module.css') ? 'new Proxy({}, { get: (_, name) => name })' : style
  return `const style = document.createElement('style'); style.textContent = ${style}; document.head.append(style); export default ${names}`
}

function jsonModule(path, text) {
  try {
    JSON.parse(text)
  } catch (error) {
    throw buildFailure(`malformed JSON: ${error.message.slice(0, 200)}`, path, lineAt(text, faultAt(text)))
  }
  return `export default JSON.parse(${JSON.stringify(text)})`
}
