// TypeScript, JSX and modules become CommonJS. Each line stays where it is, so that the line of
// an error is the line of the file.

import { transform } from 'sucrase'
import { Failure, lineAt } from './failure.js'
import { extension } from './paths.js'

const scripts = new Set(['ts', 'mts', 'cts', 'tsx', 'js', 'mjs', 'cjs', 'jsx'])

/** isScript reports whether a path is a script that is compiled. */
export const isScript = path => scripts.has(extension(path))

/** Compiler keeps what it compiled, by content. */
export class Compiler {
  #kept = new Map()
  count = 0

  /** compile returns {code, imports}, where imports are {specifier, line}. kind is that of a failure. */
  compile(path, source, kind, jsxImportSource = 'react') {
    const key = `${kind}${jsxImportSource}\0${path}`
    const kept = this.#kept.get(key)
    if (kept?.source === source) return kept.compiled
    this.count++
    const code = transformed(path, source, kind, jsxImportSource)
    const compiled = { code, imports: importsOf(code, source) }
    this.#kept.set(key, { source, compiled })
    return compiled
  }
}

const wildcard = '_interopRequireWildcard(obj) { if (obj && obj.__esModule) { return obj; }'

function transformed(path, source, kind, jsxImportSource) {
  const ext = extension(path)
  const transforms = ['imports']
  if (ext.endsWith('ts') || ext === 'tsx') transforms.push('typescript')
  if (ext.endsWith('x') || ext === 'js') transforms.push('jsx')
  try {
    const { code } = transform(source, { transforms, jsxRuntime: 'automatic', jsxImportSource, production: true, filePath: path, disableESTransforms: true })
    return code
      .replace(wildcard, wildcard.replace('return obj', 'return require.namespace(obj)'))
      .replace(/\bimport\.meta\b/g, 'import_meta') // as load.js calls it
  } catch (error) {
    const message = String(error.message).replace(`Error transforming ${path}: `, '').replace(/ \(\d+:\d+\)$/, '')
    throw new Failure(kind, message, { file: path, line: error.loc?.line, column: error.loc?.column })
  }
}

const required = /\brequire\((['"])((?:(?!\1)[^\\\n])+)\1\)/g

// What is required, unless a file only speaks of it: what compiling has put in was imported in
// the source, or is what JSX becomes.
function importsOf(code, source) {
  const imported = new Set([...source.matchAll(/\b(?:from|import)\b\s*\(?\s*(['"])([^'"\n]+)\1/g)].map(([, , specifier]) => specifier))
  return [...code.matchAll(required)]
    .filter(([, , specifier]) => imported.has(specifier) || specifier.endsWith('/jsx-runtime'))
    .map(({ 2: specifier, index }) => ({ specifier, line: lineAt(code, index) }))
}
