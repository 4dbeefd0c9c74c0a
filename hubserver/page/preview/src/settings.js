// A flat config, one member for each leaf, and the nested settings that it stands for.

import { clean } from './paths.js'

/** segments splits a key at its dots; a backslash escapes a dot or a backslash. */
export function segments(key) {
  const out = ['']
  for (let i = 0; i < key.length; i++) {
    if (key[i] === '\\') out[out.length - 1] += key[++i] ?? ''
    else if (key[i] === '.') out.push('')
    else out[out.length - 1] += key[i]
  }
  return out
}

const own = (object, name) => Object.prototype.hasOwnProperty.call(object, name)

// A plain assignment of the name __proto__ would set the prototype.
const define = (object, name, value) => Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })

/** unfold returns the nested settings of a flat config. */
export function unfold(config) {
  const root = {}
  for (const key of Object.keys(config)) {
    const path = segments(key)
    let at = root
    for (const name of path.slice(0, -1)) {
      if (!own(at, name) || typeof at[name] !== 'object' || at[name] === null || Array.isArray(at[name])) define(at, name, {})
      at = at[name]
    }
    define(at, path[path.length - 1], config[key])
  }
  return root
}

/**
 * basePathOf returns where generated files go below the app root, which is the parent directory
 * of settings.basePath: its last segment.
 */
export function basePathOf({ basePath }) {
  if (typeof basePath !== 'string') return 'src'
  const path = clean(basePath) ?? ''
  return path.slice(path.lastIndexOf('/') + 1)
}
