// What the console is told is shown beside the app, too.

import { limits } from './limits.js'

function rendered(value) {
  try {
    return typeof value === 'object' && !(value instanceof Error) ? JSON.stringify(value) : String(value)
  } catch {
    return '(a value without text)'
  }
}

/**
 * hear calls printed with {level, text} of the lines that are printed from now on. It takes no more than the
 * frame passes on, because a loop that prints would fill the memory; it returns a function that starts anew.
 */
export function hear(printed) {
  let lines = 0
  for (const [name, level] of [['debug', 'info'], ['log', 'info'], ['info', 'info'], ['warn', 'warn'], ['error', 'error']]) {
    const native = console[name]
    console[name] = (...values) => {
      native(...values)
      if (++lines <= limits.notes) printed({ level, text: values.map(rendered).join(' ').slice(0, limits.text) })
    }
  }
  return () => (lines = 0)
}
