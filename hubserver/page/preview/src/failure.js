// What goes wrong, as the page shows it: a kind (generate, build, app, hang), a message, and where.

/** Failure is an error with its kind, its file and its line. */
export class Failure extends Error {
  constructor(kind, message, { file, line, column, trace } = {}) {
    super(message)
    Object.assign(this, { kind, file, line, column, trace })
  }
}

/** buildFailure is a Failure of linking. */
export const buildFailure = (message, file, line, column) => new Failure('build', message, { file, line, column })

/** lineAt returns the number of the line that holds an offset. */
export function lineAt(text, offset) {
  let line = 1
  for (let i = text.indexOf('\n'); i !== -1 && i < offset; i = text.indexOf('\n', i + 1)) line++
  return line
}

const frames = /(app|stack):\/([^\s()]+?):(\d+):(\d+)/g

/**
 * locate finds the first position in a stack trace that is a file of the app or of the
 * stack. Files of the hub's own packages are passed over.
 */
export function locate(trace) {
  for (const [, scheme, path, line, column] of String(trace ?? '').matchAll(frames)) {
    if (path.startsWith('@hub/')) continue
    return { scheme, file: decode(path), line: Number(line), column: Number(column) }
  }
  return {}
}

/** pathOf returns the file of a module's name. */
export const pathOf = name => decode(name.replace(/^(app|stack):\//, ''))

function decode(path) {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
