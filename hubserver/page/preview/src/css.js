// Style sheets: @import is replaced by what it imports, url() by data: addresses.

import { buildFailure, lineAt } from './failure.js'
import { textOf } from './limits.js'

const imports = /@import\s+(?:url\(\s*)?(?:"([^"]*)"|'([^']*)'|([^"')\s;]+))\s*\)?\s*([^;]*);/g
const urls = /url\(\s*(?:"([^"]*)"|'([^']*)'|([^"')\s]+))\s*\)/g
const elsewhere = /^([a-z][a-z0-9+.-]*:|\/\/|#)/i
const relative = name => (/^[./]/.test(name) ? name : './' + name)

/** styleOf returns the text of a style sheet with all that it refers to. */
export function styleOf(path, { files, resolve, assets }, seen = new Set()) {
  if (seen.has(path)) return ''
  seen.add(path)
  const source = textOf(files.get(path))
  return source
    .replace(imports, (all, a, b, c, condition, offset) => {
      const name = a ?? b ?? c
      if (elsewhere.test(name)) return ''
      const file = resolve(relative(name), path) ?? resolve(name, path)
      if (!file) throw buildFailure(`there is no file ${name}`, path, lineAt(source, offset))
      return wrap(styleOf(file, { files, resolve, assets }, seen), condition.trim())
    })
    .replace(urls, (all, a, b, c, offset) => {
      const name = a ?? b ?? c
      if (elsewhere.test(name)) return all
      const file = resolve(relative(name), path)
      return file ? `url("${assets.address(file, files.get(file), path, lineAt(source, offset))}")` : all
    })
}

function wrap(style, condition) {
  const layer = condition.match(/^layer(?:\(([^)]*)\))?\s*/)
  if (layer) return wrap(`@layer ${layer[1] ?? ''} {${style}}`, condition.slice(layer[0].length))
  return condition ? `@media ${condition} {${style}}` : style
}
