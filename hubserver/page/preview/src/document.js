// The app's index.html, made ready for a frame that loads nothing: scripts are taken out to be
// linked, style sheets and images are put in.

import { styleOf } from './css.js'
import { buildFailure, lineAt } from './failure.js'
import { textOf } from './limits.js'
import { nameOf } from './link.js'

const page = 'index.html'
const inline = /^(index\.html|preview)\.inline-\d+\.js$/
const elsewhere = /^([a-z][a-z0-9+.-]*:|\/\/)/i

/** fileOf returns the file that a linked module comes from, for messages. */
export const fileOf = path => (path === undefined ? undefined : path.replace(inline, (_, name) => (name === 'preview' ? '' : name)) || undefined)

/** read parses the app's index.html. */
export function read(files) {
  if (!files.has(page)) throw buildFailure('the base files have no index.html', page)
  const source = textOf(files.get(page))
  return { source, document: new DOMParser().parseFromString(source, 'text/html') }
}

/** importMapOf takes the import map out of a document. */
export function importMapOf({ source, document }) {
  const script = document.querySelector('script[type="importmap"]')
  if (!script) return {}
  script.remove()
  try {
    const { imports } = JSON.parse(script.textContent)
    return typeof imports === 'object' && imports !== null ? imports : {}
  } catch (error) {
    throw buildFailure(`malformed import map: ${error.message}`, page, lineAt(source, source.indexOf('importmap')))
  }
}

/**
 * prepare takes the scripts out of a document and embeds what it refers to. It returns the
 * entries and the classic scripts, as {name, code}; modules that are written in the page itself
 * are added to files.
 */
export function prepare({ source, document }, context) {
  for (const e of document.querySelectorAll('base, meta[http-equiv]')) e.remove() // of an address that the app does not have
  const taken = scripts(source, document, context)
  for (const link of document.querySelectorAll('link[rel~="stylesheet"][href]')) {
    const file = local(link.getAttribute('href'), source, context)
    if (!file) continue
    const style = document.createElement('style')
    style.textContent = styleOf(file, context)
    if (link.media) style.media = link.media
    link.replaceWith(style)
  }
  for (const e of document.querySelectorAll('img[src], source[src], video[src], audio[src], video[poster], image[href]')) {
    for (const name of ['src', 'poster', 'href']) {
      const file = e.hasAttribute(name) && context.resolve(relative(e.getAttribute(name)), page)
      if (file) e.setAttribute(name, context.assets.address(file, context.files.get(file), page))
    }
  }
  return taken
}

const javascript = /^$|^(text|application)\/(x-)?(java|ecma)script$/i

function scripts(source, document, context) {
  const entries = []
  const classic = []
  for (const script of document.querySelectorAll('script')) {
    const isModule = script.type === 'module'
    if (!isModule && !javascript.test(script.type)) continue // data
    script.remove()
    const src = script.getAttribute('src')
    if (src === null) {
      const before = lineAt(source, Math.max(0, source.indexOf(script.textContent))) - 1
      const code = '\n'.repeat(before) + script.textContent
      const path = `${page}.inline-${entries.length + classic.length + 1}.js`
      if (isModule) {
        context.files.set(path, code)
        entries.push(path)
      } else classic.push({ name: nameOf(path), code })
      continue
    }
    const file = local(src, source, context)
    if (file && isModule) entries.push(file)
    else if (file) classic.push({ name: nameOf(file), code: textOf(context.files.get(file)) })
  }
  return { entries, classic }
}

// local returns the file of an address, null for one elsewhere, which is left out.
function local(address, source, context) {
  if (elsewhere.test(address)) return null
  const file = context.resolve(relative(address), page)
  if (!file) throw buildFailure(`there is no file ${address}${context.missing(address.replace(/^\.?\//, ''))}`, page, lineAt(source, source.indexOf(address)))
  return file
}

const relative = address => (/^[./]/.test(address) ? address : './' + address)

/**
 * previewEntry adds a module to files that shows one export of another module, and returns
 * its path. styles are the style sheets that the app's own scripts import.
 */
export function previewEntry({ module, export: name, name: title }, styles, context) {
  const react = /\.[jt]sx$/.test(module) && context.resolve('react', module) && context.resolve('react-dom/client', module)
  const path = 'preview.inline-1.js'
  context.files.set(path, [
    ...styles.map(s => `import ${JSON.stringify('/' + s)}`),
    `import * as all from ${JSON.stringify('/' + module)}`,
    ...(react ? ['import { createElement } from "react"', 'import { createRoot } from "react-dom/client"'] : []),
    `const name = ${JSON.stringify(name)}`,
    `const shown = all[name]`,
    `if (shown === undefined) throw new Error(${JSON.stringify(`the preview "${title}": ${module} does not export ${name}`)})`,
    `const root = document.getElementById("root") ?? document.getElementById("app") ?? document.body.appendChild(document.createElement("div"))`,
    react ? 'createRoot(root).render(createElement(shown))' : 'const node = typeof shown === "function" ? shown(root) : shown; if (node instanceof Node) root.append(node)',
  ].join('\n'))
  return path
}
