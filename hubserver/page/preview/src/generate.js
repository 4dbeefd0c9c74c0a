// Runs the stack's module in a worker, which ends when it takes too long.

import { Failure, locate } from './failure.js'
import { limits } from './limits.js'
import { outputOf } from './output.js'
import { programOf } from './stack.js'

const nothing = () => ({ artifacts: new Map(), previews: [], notes: [] })

/** Generator runs one stack. */
export class Generator {
  #worker = null
  #run = 0
  #program

  /** spawn returns a new worker from the text of its script. */
  constructor(stack, compiler, workerText, spawn = spawnBlob) {
    Object.assign(this, { stack, compiler, workerText, spawn })
  }

  /** generate returns the checked output for an input; api is JSON text. */
  async generate({ api, config, settings, basePath }) {
    const { stack } = this
    if (!stack?.module) return nothing()
    this.#program ??= await programOf(stack, this.compiler)
    if (!this.#worker) {
      this.#worker = this.spawn(this.workerText)
      this.#worker.postMessage({ program: this.#program, entry: stack.module })
    }
    const input = JSON.stringify({ config, settings, basePath, stack: { name: stack.name, version: stack.version } })
    return outputOf(await this.#answer(input, api), stack.module)
  }

  /** stop ends the worker. The next call of generate starts another. */
  stop() {
    this.#worker?.terminate()
    this.#worker = null
  }

  #answer(input, api) {
    const run = ++this.#run
    const worker = this.#worker
    return new Promise((resolve, reject) => {
      const end = failure => {
        clearTimeout(timer)
        this.stop()
        reject(failure)
      }
      const timer = setTimeout(() => end(new Failure('generate', `the module took longer than ${limits.seconds} s and was stopped`, { file: this.stack.module })), limits.seconds * 1000)
      worker.onmessage = ({ data }) => {
        if (data?.run !== run) return
        clearTimeout(timer)
        if (!data.failed) return resolve(data.output)
        this.#explain(data.failed).then(reject)
      }
      worker.onerror = event => {
        event.preventDefault?.()
        end(new Failure('generate', event.message ?? 'the worker failed', { file: this.stack.module }))
      }
      worker.postMessage({ run, input, api })
    })
  }

  async #explain({ name, message, trace, file }) {
    const at = locate(trace)
    const failure = new Failure('generate', name && name !== 'Error' ? `${name}: ${message}` : message, {
      file: at.file ?? file ?? this.stack.module, line: at.line, column: at.column, trace,
    })
    if (name === 'SyntaxError' && !at.line && file) failure.line = await this.#syntaxLine(file)
    return failure
  }

  // The trace of a syntax error does not say where it is, but the event of a worker does.
  #syntaxLine(file) {
    const { code } = this.#program.find(f => f.path === file)
    return new Promise(resolve => {
      const probe = this.spawn(`(function (require, module, exports) {${code}\n})`)
      const end = line => {
        probe.terminate()
        resolve(line || undefined)
      }
      setTimeout(end, 500)
      probe.onerror = event => {
        event.preventDefault?.()
        end(event.lineno)
      }
    })
  }
}

function spawnBlob(text) {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
  const worker = new Worker(address) // a module worker does not start in an opaque origin
  URL.revokeObjectURL(address)
  return worker
}
