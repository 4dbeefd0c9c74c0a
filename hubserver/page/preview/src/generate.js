// Runs the stack's module in a worker, which ends when it takes too long.

import { Failure, locate, pathOf } from './failure.js'
import { limits } from './limits.js'
import { outputOf } from './output.js'
import { spawn, syntaxLine } from './probe.js'
import { programOf, stackName } from './stack.js'

const nothing = () => ({ artifacts: new Map(), previews: [], notes: [] })

/** Generator runs one stack. */
export class Generator {
  #worker
  #ready = null // the worker that has the program
  #run = 0
  #program

  /** worker is one of workerText that has no program yet, if there is one. start returns a new worker from the text of its script. */
  constructor(stack, compiler, workerText, worker = null, start = spawn) {
    Object.assign(this, { stack, compiler, workerText, start })
    this.#worker = worker
  }

  /** generate returns the checked output for an input; api is JSON text. printed is called with what the module prints. */
  async generate({ api, config, settings, basePath }, printed = () => {}) {
    const { stack } = this
    if (!stack?.module) return nothing()
    this.#worker ??= this.start(this.workerText)
    this.#program ??= programOf(stack, this.compiler)
    if (this.#ready !== this.#worker) this.#worker.postMessage({ program: this.#program, entry: stackName(stack.module) })
    this.#ready = this.#worker
    const input = JSON.stringify({ config, settings, basePath, stack: { name: stack.name, version: stack.version } })
    return outputOf(await this.#answer(input, api, printed), stack.module)
  }

  /** stop ends the worker. The next call of generate starts another. */
  stop() {
    this.#worker?.terminate()
    this.#worker = null
  }

  #answer(input, api, printed) {
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
        if (data.printed) return printed(data.printed)
        clearTimeout(timer)
        if (!data.failed) return resolve(data.output)
        this.#explain(data.failed).then(reject, reject)
      }
      worker.onerror = event => {
        event.preventDefault?.()
        end(new Failure('generate', event.message ?? 'the worker failed', { file: this.stack.module }))
      }
      worker.postMessage({ run, input, api })
    })
  }

  async #explain({ name, message, trace, module }) {
    const malformed = this.#program.get(module)
    const at = malformed ? { file: pathOf(module), line: await syntaxLine(malformed.code, this.start) } : locate(trace)
    return new Failure('generate', name && name !== 'Error' ? `${name}: ${message}` : message, { ...at, file: at.file ?? this.stack.module, trace })
  }
}
