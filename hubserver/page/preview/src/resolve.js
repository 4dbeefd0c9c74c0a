// Which file an import names. Everything is looked up in the tree; nothing is fetched.

import { clean, folder } from './paths.js'
import { textOf } from './limits.js'

const endings = ['', '.tsx', '.ts', '.jsx', '.js', '.mjs', '.json', '.css', '/index.tsx', '/index.ts', '/index.jsx', '/index.js']

// TypeScript names the file that it will write.
const sources = { __proto__: null, js: ['.ts', '.tsx'], jsx: ['.tsx'], mjs: ['.mts'] }

/** find returns the file that a path without its ending names, or null. */
export function find(files, path) {
  path = path === null ? null : clean(path)
  if (path === null) return null
  for (const e of endings) if (files.has(path + e)) return path + e
  const dot = path.lastIndexOf('.')
  for (const e of sources[path.slice(dot + 1)] ?? []) if (files.has(path.slice(0, dot) + e)) return path.slice(0, dot) + e
  return null
}

/** parseConfig reads JSON with comments and trailing commas; {} if it is malformed. */
export function parseConfig(text) {
  const string = /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g
  try {
    return JSON.parse(text.replace(string, '$1').replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, '$1')) ?? {}
  } catch {
    return {}
  }
}

/** compilerOptions returns those of the app's tsconfig.json or jsconfig.json. */
export function compilerOptions(files) {
  let all = {}
  for (const name of ['jsconfig.json', 'tsconfig.json', 'tsconfig.app.json']) {
    if (files.has(name)) all = { ...all, ...parseConfig(textOf(files.get(name))).compilerOptions }
  }
  return all
}

const list = v => (Array.isArray(v) ? v : []).filter(x => typeof x === 'string')

function aliases({ paths, baseUrl }) {
  const base = typeof baseUrl === 'string' && baseUrl !== '.' && baseUrl !== './' && baseUrl ? baseUrl.replace(/\/?$/, '/') : ''
  return Object.entries(paths ?? {}).map(([pattern, to]) => {
    const star = pattern.indexOf('*')
    return { before: star === -1 ? pattern : pattern.slice(0, star), after: star === -1 ? null : pattern.slice(star + 1), to: list(to).map(t => base + t) }
  })
}

function throughAlias(files, all, name) {
  for (const { before, after, to } of all) {
    if (after === null ? name !== before : !(name.startsWith(before) && name.endsWith(after) && name.length >= before.length + after.length)) continue
    const middle = after === null ? '' : name.slice(before.length, name.length - after.length)
    for (const target of to) {
      const file = find(files, target.replace('*', () => middle))
      if (file) return file
    }
  }
  return null
}

function throughMap(files, map, name) {
  let best = null
  for (const key of Object.keys(map)) {
    if (key !== name && !(key.endsWith('/') && name.startsWith(key))) continue
    if (best === null || key.length > best.length) best = key
  }
  if (best === null || typeof map[best] !== 'string' || /^[a-z][a-z0-9+.-]*:|^\/\//i.test(map[best])) return null
  return find(files, map[best] + name.slice(best.length))
}

/**
 * resolver returns a function from a specifier and the importing file to a file of the
 * tree, to `@hub/<package>` for one of the hub's packages, or to null.
 */
export function resolver(files, { importMap = {}, packages = new Map(), options = compilerOptions(files) } = {}) {
  const all = aliases(options)
  return (specifier, importer) => {
    const name = specifier.split(/[?#]/, 1)[0]
    if (name.startsWith('./') || name.startsWith('../') || name === '.' || name === '..') return find(files, folder(importer) + name)
    if (name.startsWith('/@hub/')) return files.has(name.slice(1)) ? name.slice(1) : null
    if (name.startsWith('/')) return find(files, name) ?? find(files, 'public' + name)
    return throughMap(files, importMap, name) ?? throughAlias(files, all, name) ?? (packages.has(name) ? '@hub/' + name : null)
  }
}
