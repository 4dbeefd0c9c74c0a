// Where code is malformed in a way that only the browser sees: the error of eval does not say
// it, but the event of a worker does.

/** spawn returns a new worker from the text of its script. */
export function spawn(text) {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
  const worker = new Worker(address) // a module worker does not start in an opaque origin
  URL.revokeObjectURL(address)
  return worker
}

/** syntaxLine returns the line of a module's code that is malformed, undefined if it is not known. Nothing of the code runs. */
export function syntaxLine(code, start = spawn) {
  return new Promise(resolve => {
    const probe = start(`throw 0;(async function (require, module, exports) {${code}\n})`)
    const end = line => {
      probe.terminate()
      resolve(line || undefined)
    }
    setTimeout(end, 500)
    probe.onerror = event => {
      event.preventDefault?.()
      end(/SyntaxError/.test(event.message) ? event.lineno : undefined)
    }
  })
}
