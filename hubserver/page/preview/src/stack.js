// The stack's module with everything that it imports, as the worker takes it.

import { Failure } from './failure.js'
import { jsonModule } from './json.js'
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

/** stackName returns the name of a file's module. */
export const stackName = path => 'stack:/' + encodeURI(path)

const fail = (message, file, line) => new Failure('generate', message, { file, line })

/**
 * programOf returns the modules that a stack's module consists of: a map from the name of
 * each to {code, imports}, as load.js runs them.
 */
export function programOf(stack, compiler) {
  if (!stack.files.has(stack.module)) throw fail(`the stack's bundle has no file ${stack.module}, which stack.json names as preview.module`, stack.module)
  const program = new Map()
  const queue = [stack.module]
  let size = 0
  while (queue.length) {
    const path = queue.pop()
    if (program.has(stackName(path))) continue
    const source = textOf(stack.files.get(path))
    size += bytesOf(source)
    if (size > limits.module) throw fail(`the module is larger than ${mebibytes(limits.module)} with what it imports`, path)
    program.set(stackName(path), path.endsWith('.json') ? jsonModule(path, source, 'generate') : script(path, source, stack, compiler, queue))
  }
  return program
}

function script(path, source, stack, compiler, queue) {
  const compiled = compiler.compile(path, source, 'generate')
  const imports = new Map()
  for (const { specifier, line } of compiled.imports) {
    if (!/^\.{1,2}\//.test(specifier)) throw fail(`imports "${specifier}": a stack's module imports only relative paths (.ts, .js, .json)`, path, line)
    const file = findInStack(stack.files, specifier, path)
    if (!file) throw fail(`imports ${specifier}, which is not in the stack's bundle`, path, line)
    imports.set(specifier, stackName(file))
    queue.push(file)
  }
  return { code: compiled.code, imports }
}
