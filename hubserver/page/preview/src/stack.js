// The stack's module with everything that it imports, as the worker takes it.

import { init, parse } from 'es-module-lexer/minimal/js'
import { Failure, lineAt } from './failure.js'
import { faultAt } from './json.js'
import { bytesOf, limits, mebibytes, textOf } from './limits.js'
import { clean, folder } from './paths.js'

const endings = ['', '.ts', '.js', '.json', '/mod.ts', '/index.ts', '/index.js']

/** findInStack returns the file that a relative specifier names, or null. */
export function findInStack(files, specifier, importer) {
  const path = clean(folder(importer) + specifier)
  if (path === null) return null
  for (const e of endings) if (/\.(ts|js|json)$/.test(path + e) && files.has(path + e)) return path + e
  return path.endsWith('.js') && files.has(path.slice(0, -3) + '.ts') ? path.slice(0, -3) + '.ts' : null
}

const fail = (message, file, line) => new Failure('generate', message, { file, line })

/**
 * programOf returns the files that a stack's module consists of: a list of
 * {path, code, imports}, where imports maps each specifier to a path.
 */
export async function programOf(stack, compiler) {
  await init
  if (!stack.files.has(stack.module)) throw fail(`the stack's bundle has no file ${stack.module}, which stack.json names as preview.module`, stack.module)
  const program = new Map()
  const queue = [stack.module]
  let size = 0
  while (queue.length) {
    const path = queue.pop()
    if (program.has(path)) continue
    const source = textOf(stack.files.get(path))
    size += bytesOf(source)
    if (size > limits.module) throw fail(`the module is larger than ${mebibytes(limits.module)} with what it imports`, path)
    program.set(path, path.endsWith('.json') ? json(path, source) : script(path, source, stack, compiler, queue))
  }
  return [...program].map(([path, file]) => ({ path, ...file }))
}

function json(path, source) {
  try {
    JSON.parse(source)
  } catch (error) {
    throw fail(`malformed JSON: ${error.message.slice(0, 200)}`, path, lineAt(source, faultAt(source)))
  }
  return { code: source, imports: {} }
}

function script(path, source, stack, compiler, queue) {
  const code = compiler.compile(path, source, { commonjs: true })
  const modern = compiler.compile(path, source)
  const imports = {}
  for (const i of parse(modern)[0]) {
    if (i.n === undefined) continue
    const line = lineAt(modern, i.s)
    if (!/^\.{1,2}\//.test(i.n)) throw fail(`imports "${i.n}": a stack's module imports only relative paths (.ts, .js, .json)`, path, line)
    const file = findInStack(stack.files, i.n, path)
    if (!file) throw fail(`imports ${i.n}, which is not in the stack's bundle`, path, line)
    Object.defineProperty(imports, i.n, { value: file, enumerable: true })
    queue.push(file)
  }
  return { code, imports }
}
