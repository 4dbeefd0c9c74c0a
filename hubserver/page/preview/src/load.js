// The modules of a stack or of an app, run as CommonJS: each once, in the order in which
// they are required.

const evaluate = eval // indirect: a module sees none of these names

/**
 * loader returns a function that runs a module and those that it requires. modules is a map
 * from a name, such as app:/src/main.ts, to {code, imports}, where imports is a map from a
 * specifier to a name. The module of an entry may wait at its top level, for what the result's done is.
 */
export function loader(modules, entries = []) {
  const loaded = new Map()
  const raw = new WeakMap() // what a checked namespace stands for
  const namespace = all => raw.get(all) ?? all // in which a name may be missing, as in all that * imports

  // An import of a name that a module does not export is an error, as between native modules.
  function checked(name, module) {
    const all = new Proxy(module.exports, {
      get(target, key) {
        if (key in target || typeof key === 'symbol' || key === 'then') return target[key]
        const file = decodeURI(name.replace(/^[a-z]+:\//, ''))
        if (module.isRunning) throw new ReferenceError(`${file} has not exported ${key} yet: it imports this module, too`)
        throw new SyntaxError(`${file} does not export ${key}`)
      },
    })
    raw.set(all, module.exports)
    return all
  }

  return function load(name) {
    if (loaded.has(name)) return loaded.get(name)
    const { code, imports } = modules.get(name)
    const module = { exports: {}, isRunning: true }
    loaded.set(name, module)
    const require = specifier => {
      if (!imports.has(specifier)) throw new Error(`the module ${specifier} is not in the app`)
      const required = load(imports.get(specifier))
      if (!required.exports?.__esModule) return required.exports
      return (required.checked ??= checked(imports.get(specifier), required))
    }
    require.namespace = namespace
    let run
    try {
      run = evaluate(`(${entries.includes(name) ? 'async ' : ''}function (require, module, exports, import_meta) {${code}\n})\n//# sourceURL=${name}`)
    } catch (error) {
      throw Object.assign(error, { inModule: name }) // of which a trace says nothing
    }
    module.done = run(require, module, module.exports, meta(name))
    module.isRunning = false
    return module
  }
}

const meta = url => ({ url, env: { MODE: 'preview', DEV: true, PROD: false, SSR: false, BASE_URL: '/' } })
