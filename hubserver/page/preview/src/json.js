// Modules of JSON, and where JSON is malformed: browsers word that differently, and some do not
// say it at all.

import { Failure, lineAt } from './failure.js'

/** valueModule returns the module of a value: its default export, a JavaScript expression. */
export const valueModule = (value, first = '') => ({ imports: new Map(), code: `${first}exports.__esModule = true; exports.default = ${value}` })

/** jsonModule returns the module of a file's JSON. kind is that of a failure. */
export function jsonModule(path, text, kind) {
  try {
    JSON.parse(text)
  } catch (error) {
    throw new Failure(kind, `malformed JSON: ${error.message.slice(0, 200)}`, { file: path, line: lineAt(text, faultAt(text)) })
  }
  return valueModule(`JSON.parse(${JSON.stringify(text)})`)
}

const token = /[\s]*(?:("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:]))/y

/** faultAt returns the offset of the first character that is not JSON, or -1. */
export function faultAt(text) {
  const open = []
  let expected = 'value'
  let at = 0
  for (;;) {
    token.lastIndex = at
    const found = token.exec(text)
    const start = at + text.slice(at).match(/^\s*/)[0].length
    if (!found) return expected === 'end' && start === text.length ? -1 : start
    const [whole, string, atom, mark] = found
    const next = step(expected, string !== undefined ? 'string' : atom !== undefined ? 'atom' : mark, open)
    if (!next) return start
    expected = next
    at += whole.length
  }
}

const after = open => (open.length ? 'more' : 'end')

// step returns what is expected after a token, or nothing if the token is not what was.
function step(expected, kind, open) {
  const value = ['value', 'value or ]'].includes(expected)
  if (value && (kind === 'string' || kind === 'atom')) return after(open)
  if (value && kind === '{') return open.push('}') && 'name or }'
  if (value && kind === '[') return open.push(']') && 'value or ]'
  if (['name', 'name or }'].includes(expected) && kind === 'string') return ':'
  if (expected === ':' && kind === ':') return 'value'
  if (expected === 'more' && kind === ',') return open.at(-1) === '}' ? 'name' : 'value'
  if (expected === 'more' || expected === `value or ${kind}` || expected === `name or ${kind}`) return open.at(-1) === kind && open.pop() && after(open)
}
