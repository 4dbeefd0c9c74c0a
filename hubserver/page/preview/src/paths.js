// Paths of files: relative, with slashes, within the app root.

import { limits } from './limits.js'

/** clean resolves the dots of a path; null when it leaves the root. */
export function clean(path) {
  const out = []
  for (const segment of path.split('/')) {
    if (segment === '..') {
      if (!out.length) return null
      out.pop()
    } else if (segment && segment !== '.') out.push(segment)
  }
  return out.join('/')
}

/** folder returns the path up to its last slash, which it includes. */
export const folder = path => path.slice(0, path.lastIndexOf('/') + 1)

/** extension returns what follows the last dot of a path's last segment, in lower case. */
export function extension(path) {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot === -1 ? '' : name.slice(dot + 1).toLowerCase()
}

// Control characters, and those that turn the text around them.
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/ // eslint-disable-line no-control-regex

/** faultOf says why an artifact may not have this path, '' if it may. */
export function faultOf(path) {
  if (path === '') return 'is empty'
  if (path.length > limits.path) return `is longer than ${limits.path} characters`
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'is absolute'
  if (path.includes('\\')) return 'contains a backslash'
  if (unprintable.test(path)) return 'contains a control character'
  const segments = path.split('/')
  if (segments.includes('..')) return 'is outside the app root'
  if (segments.includes('') || segments.includes('.')) return 'has an empty segment or a dot as a segment'
  if (segments[0] === '.tool') return 'is inside .tool, which is not part of the app'
  return ''
}

/** quoted returns a path as it is shown in a message. */
export const quoted = path => JSON.stringify(String(path).slice(0, 200))
