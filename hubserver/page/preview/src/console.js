// What the console is told is shown beside the app, too.

function rendered(value) {
  try {
    return typeof value === 'object' && !(value instanceof Error) ? JSON.stringify(value) : String(value)
  } catch {
    return '(a value without text)'
  }
}

/** hear calls printed with {level, text} of each line that is printed from now on. */
export function hear(printed) {
  for (const [name, level] of [['debug', 'info'], ['log', 'info'], ['info', 'info'], ['warn', 'warn'], ['error', 'error']]) {
    const native = console[name]
    console[name] = (...values) => {
      native(...values)
      printed({ level, text: values.map(rendered).join(' ').slice(0, 4000) })
    }
  }
}
