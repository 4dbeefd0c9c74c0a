import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Compiler, isScript } from '../src/compile.js'
import { hear } from '../src/console.js'
import { styleOf } from '../src/css.js'
import { Assets, typeOf } from '../src/assets.js'
import { changesBetween, difference } from '../src/difference.js'
import { lineAt, locate } from '../src/failure.js'
import { faultAt } from '../src/json.js'
import { link, nameOf } from '../src/link.js'
import { loader } from '../src/load.js'
import { outputOf } from '../src/output.js'
import { clean, extension, faultOf, folder } from '../src/paths.js'
import { compilerOptions, find, parseConfig, resolver } from '../src/resolve.js'
import { basePathOf, segments, unfold } from '../src/settings.js'
import { programOf } from '../src/stack.js'
import { Generator } from '../src/generate.js'

const tree = files => new Map(Object.entries(files))

test('clean resolves dots and stays within the root', () => {
  const cases = { 'a/./b': 'a/b', 'a/../b': 'b', '/a//b/': 'a/b', '': '', '..': null, 'a/../../b': null }
  for (const [path, want] of Object.entries(cases)) assert.equal(clean(path), want, path)
})

test('folder and extension take the last slash and the last dot', () => {
  assert.deepEqual(['a/b.ts', 'b.ts', 'a.b/c'].map(folder), ['a/', '', 'a.b/'])
  assert.deepEqual(['a/b.TS', 'a.b/c', '.x', 'b.d.ts'].map(extension), ['ts', '', 'x', 'ts'])
})

test('faultOf refuses every path that is not one below the app root', () => {
  const bad = ['', '/a', '../a', 'a/../../b', 'a/..', './a', 'a//b', 'a/', 'C:\\x', 'C:x', 'a\\b', 'a\0b', 'a\nb', 'a\u202eb', '.tool/x', 'x'.repeat(1025)]
  for (const path of bad) assert.notEqual(faultOf(path), '', JSON.stringify(path))
  for (const path of ['a', 'a/b.ts', '__proto__', 'constructor/x', 'a b/ü.ts', '.env', '...', 'toString']) assert.equal(faultOf(path), '', path)
})

test('unfold nests a flat config, whatever its names', () => {
  assert.deepEqual(segments('a.b\\.c.\\\\'), ['a', 'b.c', '\\'])
  assert.deepEqual(unfold({ 'a.b': 1, 'a.c\\.d': [2], e: {}, '': null }), { a: { b: 1, 'c.d': [2] }, e: {}, '': null })
  const odd = unfold(JSON.parse('{"__proto__.polluted": 1, "constructor.prototype.polluted": 2}'))
  assert.equal({}.polluted, undefined)
  assert.deepEqual(JSON.stringify(odd), '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}')
})

test('basePathOf is below the app root, the parent of the base path', () => {
  for (const [basePath, want] of [['apps/web/src', 'src'], ['src', 'src'], ['a//b/./', 'b'], ['.', ''], ['', ''], ['../x', ''], [undefined, 'src'], [5, 'src']]) {
    assert.equal(basePathOf({ basePath }), want, String(basePath))
  }
})

test('faultAt agrees with JSON.parse about what is JSON', () => {
  const texts = ['{}', '[]', ' {"a": [1, -2.5e3, true, null, "x\\u00e9"]} ', '""', '0', '{"a": }', '{"a" 1}', '[1,]', '{,}', '{"a": 1,}', '01', '[', '{', ']', '', ' ', '{"a": 1} x', 'nul', '"a\nb"', '"\\x"', '[1 2]', '{1: 2}', '[}', '{"a": 1]', '-', '1.', '"']
  for (const text of texts) {
    let valid = true
    try { JSON.parse(text) } catch { valid = false }
    assert.equal(faultAt(text) === -1, valid, text)
  }
  const text = '{\n\n"a": }'
  assert.equal(lineAt(text, faultAt(text)), 3)
})

test('faultAt agrees with JSON.parse about any text of JSON characters', () => {
  const parts = ['{', '}', '[', ']', ',', ':', '"a"', '1', 'true', ' ', '\n', '"', '\\', '-', 'e']
  let seed = 7
  const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
  for (let i = 0; i < 20000; i++) {
    const text = Array.from({ length: random(9) }, () => parts[random(parts.length)]).join('')
    let valid = true
    try { JSON.parse(text) } catch { valid = false }
    assert.equal(faultAt(text) === -1, valid, text)
  }
})

test('find adds endings, index files, and the source of a written .js', () => {
  const files = tree({ 'a.ts': '', 'b/index.tsx': '', 'c.js': '', 'd.mts': '', 'e.jsx': '', __proto__x: '' })
  const cases = { a: 'a.ts', 'a.js': 'a.ts', b: 'b/index.tsx', c: 'c.js', 'c.js': 'c.js', 'd.mjs': 'd.mts', e: 'e.jsx', 'x/../a': 'a.ts', none: null, '../a': null, constructor: null, 'a.constructor': null }
  for (const [path, want] of Object.entries(cases)) assert.equal(find(files, path), want, path)
})

test('parseConfig reads comments and trailing commas, and keeps strings', () => {
  assert.deepEqual(parseConfig('{ // a\n "a": "b // c, }", /* d */ "e": [1, 2,], }'), { a: 'b // c, }', e: [1, 2] })
  assert.deepEqual(parseConfig('{'), {})
  assert.deepEqual(parseConfig('null'), {})
})

test('resolver looks up relative paths, aliases, the import map and the hub\'s packages', () => {
  const files = tree({
    'tsconfig.json': '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"], "one": ["src/a.ts"], "bad": 5}}}',
    'src/a.ts': '', 'src/b.ts': '', 'public/logo.svg': '', 'vendor/preact.js': '', 'vendor/x/y.js': '', '@hub/api.json': '{}',
  })
  const resolve = resolver(files, { importMap: { preact: '/vendor/preact.js', 'x/': './vendor/x/', out: 'https://evil.example/', far: '//evil.example/x' }, packages: new Map([['react', '']]) })
  const cases = {
    './a': 'src/a.ts', './a?raw': 'src/a.ts', '../src/b': 'src/b.ts', '@/b': 'src/b.ts', one: 'src/a.ts', '/src/a': 'src/a.ts', '/logo.svg': 'public/logo.svg', preact: 'vendor/preact.js', 'x/y.js': 'vendor/x/y.js',
    react: '@hub/react', '/@hub/api.json': '@hub/api.json', '/@hub/none': null, out: null, far: null, none: null, '../../etc/passwd': null, bad: null, constructor: null, '': null,
  }
  for (const [name, want] of Object.entries(cases)) assert.equal(resolve(name, 'src/main.ts'), want, name)
})

test('compilerOptions survives anything in tsconfig.json', () => {
  for (const text of ['', '[]', '{"compilerOptions": null}', '{"compilerOptions": {"paths": null}}', '{"compilerOptions": {"paths": [], "baseUrl": 5}}']) {
    const files = tree({ 'tsconfig.json': text, 'a.ts': '' })
    assert.equal(typeof compilerOptions(files), 'object')
    assert.equal(resolver(files)('./a', 'b.ts'), 'a.ts', text)
  }
})

test('Compiler keeps lines, and names the line of a fault', () => {
  const compiler = new Compiler()
  const source = 'interface A {\n  b: string\n}\nexport const x: A = { b: "1" }\nenum E { F }\nthrow new Error(E[0])'
  const { code } = compiler.compile('a.ts', source, 'build')
  assert.equal(lineAt(code, code.indexOf('throw')), 6)
  assert.throws(() => compiler.compile('c.ts', '\n\nconst = 1', 'build'), e => e.kind === 'build' && e.file === 'c.ts' && e.line === 3)
  assert.throws(() => compiler.compile('c.ts', 'const = 1', 'generate'), e => e.kind === 'generate')
  const before = compiler.count
  compiler.compile('a.ts', source, 'build')
  assert.equal(compiler.count, before)
  assert.ok(isScript('a.mts') && !isScript('a.json'))
})

test('Compiler lists what is imported, and nothing that is only written', () => {
  const cases = {
    'import a from "./a"; a()': ['./a'], "import './b.css'": ['./b.css'], 'import type { T } from "./t"': [], 'import { T } from "./t"; let x: T': [],
    'export { c } from "./c"': ['./c'], 'export * from "./d"': ['./d'], 'const e = () => import("./e")': ['./e'], 'import f, * as g from "./f"; f(g)': ['./f'],
    "// import x from './x'\nconst y = \"require('./y')\"\n/* require('./z') */": [], 'const h = () => import(String("./h"))': [],
  }
  for (const [source, want] of Object.entries(cases)) {
    assert.deepEqual([...new Set(new Compiler().compile('a.ts', source, 'build').imports.map(i => i.specifier))], want, source)
  }
  assert.deepEqual(new Compiler().compile('b.tsx', 'export const x = <b>1</b>', 'build').imports, [{ specifier: 'react/jsx-runtime', line: 1 }])
  assert.deepEqual(new Compiler().compile('b.tsx', '\nexport const x = <b>1</b>', 'build', 'preact').imports, [{ specifier: 'preact/jsx-runtime', line: 1 }])
  assert.deepEqual(new Compiler().compile('b.ts', '\n\nimport a from "./a"; a()', 'build').imports, [{ specifier: './a', line: 3 }])
})

const context = files => ({
  files, assets: new Assets(), linked: new Map(), packages: new Map([['react', { code: 'module.exports = { version: 19 }', imports: [] }]]), missing: () => '',
  resolve: resolver(files, { packages: new Map([['react', '']]) }), compile: (path, source) => new Compiler().compile(path, source, 'build'),
})

test('styleOf replaces imports, in a circle too, and addresses', () => {
  const files = tree({ 'a.css': '@import "./b.css";\n@import url(c.css) screen;\n@import "d.css" layer(base);\n@import "https://evil.example/x.css";\na { background: url("x.svg") }', 'b.css': '@import "./a.css";\nb {}', 'c.css': 'c {}', 'd.css': 'd {}', 'x.svg': '<svg/>' })
  const style = styleOf('a.css', context(files))
  assert.match(style, /b \{\}/)
  assert.match(style, /@media screen \{c \{\}\}/)
  assert.match(style, /@layer base \{d \{\}\}/)
  assert.match(style, /url\("data:image\/svg\+xml;base64,PHN2Zy8\+"\)/)
  assert.doesNotMatch(style, /evil/)
  files.set('a.css', '\n\n@import "./none.css";')
  assert.throws(() => styleOf('a.css', context(files)), e => e.file === 'a.css' && e.line === 3)
})

/** run links files and runs an entry; it returns what that exports. */
async function run(sources, entry = 'main.ts') {
  const modules = await link([entry], context(tree(sources)))
  const module = loader(modules, [nameOf(entry)])(nameOf(entry))
  await module.done
  return module.exports
}

test('link names every module, through circles, attributes, queries and data', async () => {
  const files = tree({
    'main.ts': 'import { b } from "./b"\nimport data from "./d.json" with { type: "json" }\nimport raw from "./d.json?raw"\nimport mark from "./x.svg"\nimport url from "./main.ts?url"\nimport react from "react"\nexport const lazy = () => import("./b")\nconsole.log(b, data, raw, mark, url, react, import.meta.env.MODE)',
    'b.ts': 'import "./main"\nexport const b = 1', 'd.json': '{"__proto__": 1}', 'x.svg': '<svg/>', __proto__: '',
  })
  const modules = await link(['main.ts'], context(files))
  assert.deepEqual([...modules.keys()].sort(), ['app:/@hub/react', 'app:/b.ts', 'app:/d.json', 'app:/d.json%3Fraw', 'app:/main.ts', 'app:/main.ts%3Furl', 'app:/x.svg'])
  const { code, imports } = modules.get('app:/main.ts')
  assert.deepEqual(Object.fromEntries(imports), { './b': 'app:/b.ts', './d.json': 'app:/d.json', './d.json?raw': 'app:/d.json%3Fraw', './x.svg': 'app:/x.svg', './main.ts?url': 'app:/main.ts%3Furl', react: 'app:/@hub/react' })
  assert.equal(lineAt(code, code.indexOf('console.log')), 8)
})

test('loader runs modules as a browser does', async () => {
  const all = await run({
    'main.ts': `import def, { n, bump } from './a'
import * as a from './a'
import react, { version } from 'react'
import data from './d.json'
export { n as again } from './a'
export * from './star'
bump()
export const found = [def, n, a.n, a.none, 'none' in a, react.version, version, data, import.meta.env.MODE, (await import('./a')).n]`,
    'a.ts': 'export let n = 1\nexport const bump = () => { n++ }\nexport default "def"', 'd.json': '{"x": 1}', 'star.ts': 'export const star = 5\nexport default 1',
  })
  assert.deepEqual(all.found, ['def', 2, 2, undefined, false, 19, 19, { x: 1 }, 'preview', 2])
  assert.deepEqual([all.again, all.star, all.default], [2, 5, undefined])
})

test('loader refuses a name that a module does not export', async () => {
  const cases = {
    'import { none } from "./a"; none()': /^SyntaxError: a b\.ts does not export none$/, 'import none from "./a"; none()': /^SyntaxError: a b\.ts does not export default$/,
    'import { late } from "./circle"; late()': /^ReferenceError: main\.ts has not exported early yet: it imports this module, too$/,
  }
  for (const [source, want] of Object.entries(cases)) {
    const files = { 'main.ts': source.replace('./a', './a b') + '\nexport const early = 1', 'a b.ts': 'export const a = 1', 'circle.ts': 'import { early } from "./main"\nexport const late = () => early\nearly.x' }
    await assert.rejects(run(files), e => want.test(String(e)), source)
  }
})

test('loader names the module that only the browser finds malformed', async () => {
  await assert.rejects(run({ 'main.ts': 'import "./a"', 'a.ts': 'let x; let x' }), e => e instanceof SyntaxError && e.inModule === 'app:/a.ts')
})

test('link gives odd names a module each', async () => {
  const names = ['__proto__.ts', 'a b.ts', 'ü.ts', 'a#b.ts', '%41.ts', 'constructor.ts', "it's.ts"]
  const files = tree(Object.fromEntries(names.map(n => [n, 'export default 1'])))
  const modules = await link(names, context(files))
  assert.equal(modules.size, names.length)
  for (const name of names) assert.match(nameOf(name), /^app:\/[^\s"#?]+$/)
})

test('link names file and line of what it cannot link', async () => {
  const cases = {
    '\nimport "./none"': [2, /there is no file none/], 'import "axios"': [1, /package "axios"/], '\n\nimport "http://evil.example/x.js"': [3, /other addresses/], 'import "../../x"': [1, /there is no file/],
  }
  for (const [source, [line, message]] of Object.entries(cases)) {
    await assert.rejects(link(['m.ts'], context(tree({ 'm.ts': source }))), e => e.kind === 'build' && e.file === 'm.ts' && e.line === line && message.test(e.message), source)
  }
  await assert.rejects(link(['m.ts'], context(tree({ 'm.ts': 'import "./a.json"', 'a.json': '{\n' }))), e => e.file === 'a.json' && e.line === 2)
  await assert.rejects(link(['m.ts'], context(new Map([['m.ts', 'import x from "./a.png"; x'], ['a.png', { size: 25 << 20 }]]))), e => /25 MiB/.test(e.message))
})

test('typeOf knows no inherited names', () => {
  assert.equal(typeOf('a.constructor'), 'application/octet-stream')
  assert.equal(typeOf('a.SVG'), 'image/svg+xml')
})

test('difference shows what changed with a few lines around it', () => {
  const before = Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n')
  const lines = difference(before, before.replace('line 10', 'other'))
  assert.deepEqual(lines.filter(([s]) => s === '-' || s === '+'), [['-', 'line 10'], ['+', 'other']])
  assert.equal(lines.length, 10)
  assert.deepEqual(difference('a', 'a'), [])
  assert.deepEqual(difference(undefined, 'a'), [['+', 'a']])
  assert.deepEqual(difference('a', undefined), [['-', 'a']])
})

test('difference leads from the one text to the other', () => {
  let seed = 3
  const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
  for (let i = 0; i < 2000; i++) {
    const [a, b] = [0, 1].map(() => Array.from({ length: random(12) }, () => 'xyz'[random(3)]))
    const lines = difference(a.join('\n'), b.join('\n'), 99)
    if (a.join() === b.join()) continue
    const side = sign => lines.filter(([s]) => s === ' ' || s === sign).map(([, l]) => l).join('\n')
    assert.equal(side('-'), a.join('\n'))
    assert.equal(side('+'), b.join('\n'))
  }
})

test('changesBetween counts all and shows some', () => {
  const after = new Map(Array.from({ length: 30 }, (_, i) => [`f${i}`, 'x']))
  const changes = changesBetween(new Map([['gone', '']]), after, 20)
  assert.equal(changes.count, 31)
  assert.equal(changes.files.length, 20)
})

test('locate passes over the hub\'s packages', () => {
  const trace = 'Error: x\n    at f (app:/@hub/react:1:1)\n    at App (app:/src/a%20b.tsx:12:5)'
  assert.deepEqual(locate(trace), { scheme: 'app', file: 'src/a b.tsx', line: 12, column: 5 })
  assert.deepEqual(locate('x@stack:/mod.ts:3:9\n'), { scheme: 'stack', file: 'mod.ts', line: 3, column: 9 })
  assert.deepEqual(locate(undefined), {})
})

test('outputOf keeps odd names as names', () => {
  const { artifacts } = outputOf({ artifacts: [['__proto__', 'a'], ['constructor', 'b'], ['a/__proto__/c', 'd']], previews: [], notes: [{ text: 'x', level: 'shout' }] }, 'mod.ts')
  assert.deepEqual([...artifacts.keys()], ['__proto__', 'constructor', 'a/__proto__/c'])
})

test('outputOf takes what is at a limit and refuses what is above it', () => {
  const artifacts = n => Array.from({ length: n }, (_, i) => [`f${i}`, ''])
  assert.equal(outputOf({ artifacts: artifacts(5000) }, 'm').artifacts.size, 5000)
  assert.throws(() => outputOf({ artifacts: artifacts(5001) }, 'm'), e => e.kind === 'generate' && e.file === 'm')
  assert.equal(outputOf({ artifacts: [['a', 'x'.repeat(16 << 20)]] }, 'm').artifacts.size, 1)
  assert.throws(() => outputOf({ artifacts: [['a', 'x'.repeat(16 << 20)], ['b', 'x']] }, 'm'), /16 MiB/)
  for (const bad of [null, 5, {}, { artifacts: 5 }, { artifacts: [['a', { type: 'number' }]] }, { artifacts: [], previews: { type: 'string' } }, { artifacts: [], notes: [{}] }]) assert.throws(() => outputOf(bad, 'm'), e => e.kind === 'generate')
})

const stackOf = (files, module = 'mod.ts') => ({ name: '@a/b', version: '1.0.0', module, files: tree(files) })

test('programOf takes only what the module imports', () => {
  const program = programOf(stackOf({ 'mod.ts': 'import { a } from "./lib/a.ts"\nimport type { T } from "./types"\nimport d from "./d.json"\nexport const toArtifacts = () => [a, d]', 'lib/a.ts': 'export { b as a } from "./b.js"', 'lib/b.ts': 'import "../mod.ts"\nexport const b = 1', 'd.json': '{}', 'other.ts': '#' }), new Compiler())
  assert.deepEqual([...program.keys()].sort(), ['stack:/d.json', 'stack:/lib/a.ts', 'stack:/lib/b.ts', 'stack:/mod.ts'])
})

test('programOf names file and line of what is not in the bundle', () => {
  const cases = { 'import "lodash"': /only relative/, 'import "./none"': /not in the stack/, 'import "../out"': /not in the stack/, 'import "/abs"': /only relative/ }
  for (const [source, message] of Object.entries(cases)) {
    assert.throws(() => programOf(stackOf({ 'mod.ts': '\n' + source }), new Compiler()), e => e.kind === 'generate' && e.file === 'mod.ts' && e.line === 2 && message.test(e.message), source)
  }
})

test('Generator ends a worker that takes too long, and starts another', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const workers = []
  let asked
  const isAsked = new Promise(resolve => (asked = resolve))
  class Worker {
    constructor() { workers.push(this) }
    postMessage(m) {
      if (m.run === undefined) return
      if (workers.length === 1) return asked()
      queueMicrotask(() => this.onmessage({ data: { run: m.run, output: { artifacts: [['a', 'b']] } } }))
    }
    terminate() { this.ended = true }
  }
  const generator = new Generator(stackOf({ 'mod.ts': 'export const toArtifacts = 1' }), new Compiler(), '', null, () => new Worker())
  const input = { api: '{}', config: {}, settings: {}, basePath: 'src' }
  const first = generator.generate(input)
  await isAsked
  t.mock.timers.tick(5000)
  await assert.rejects(first, e => e.kind === 'generate' && /longer than 5 s/.test(e.message) && e.file === 'mod.ts')
  assert.ok(workers[0].ended)
  assert.equal((await generator.generate(input)).artifacts.get('a'), 'b')
})

test('Generator without a module gives nothing', async () => {
  assert.equal((await new Generator({ module: null }, new Compiler(), '').generate({})).artifacts.size, 0)
})

test('hear takes the first lines of a run, whatever they are printed with', t => {
  for (const name of ['debug', 'log', 'info', 'warn', 'error']) t.mock.method(console, name, () => {})
  const lines = []
  const again = hear(line => lines.push(line))
  const print = () => {
    for (let i = 0; i < 80; i++) console.log(i, { i }), console.error(i)
  }
  print()
  assert.deepEqual([lines.length, lines[0], lines[1]], [100, { level: 'info', text: '0 {"i":0}' }, { level: 'error', text: '0' }])
  again()
  print()
  assert.equal(lines.length, 200)
})
