// TypeScript and JSX become JavaScript. Each line stays where it is, so that the line of an
// error is the line of the file.

import { transform } from 'sucrase'
import { Failure } from './failure.js'
import { extension } from './paths.js'

const scripts = new Set(['ts', 'mts', 'cts', 'tsx', 'js', 'mjs', 'cjs', 'jsx'])

/** isScript reports whether a path is a script that is compiled. */
export const isScript = path => scripts.has(extension(path))

/** Compiler keeps what it compiled, by content. */
export class Compiler {
  #kept = new Map()
  count = 0

  /**
   * compile returns JavaScript. With commonjs, imports become calls of require, and the
   * failure is one of the stack's module.
   */
  compile(path, source, { commonjs = false, jsxImportSource = 'react' } = {}) {
    const key = `${commonjs ? 'c' : 'm'}${jsxImportSource}\0${path}`
    const kept = this.#kept.get(key)
    if (kept?.source === source) return kept.code
    this.count++
    const code = this.#transform(path, source, commonjs, jsxImportSource)
    this.#kept.set(key, { source, code })
    return code
  }

  #transform(path, source, commonjs, jsxImportSource) {
    const ext = extension(path)
    const transforms = []
    if (ext.endsWith('ts') || ext === 'tsx') transforms.push('typescript')
    if (ext.endsWith('x') || ext === 'js') transforms.push('jsx')
    if (commonjs) transforms.push('imports')
    try {
      return transform(source, {
        transforms, jsxRuntime: 'automatic', jsxImportSource, production: true, filePath: path,
        disableESTransforms: true, preserveDynamicImport: true,
      }).code
    } catch (error) {
      const message = String(error.message).replace(`Error transforming ${path}: `, '').replace(/ \(\d+:\d+\)$/, '')
      throw new Failure(commonjs ? 'generate' : 'build', message, { file: path, line: error.loc?.line, column: error.loc?.column })
    }
  }
}
