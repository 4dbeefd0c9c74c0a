// Builds the frame's program and the set of packages that apps may import into preview/dist/, and
// the scripts and the style sheet of pages into static/dist/. The result depends only on the sources
// and on package-lock.json. A directory as the argument gets both instead.

import { build } from 'esbuild'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const [out, pageOut] = process.argv[2] ? [join(process.argv[2], 'preview'), join(process.argv[2], 'page')] : [join(here, 'preview/dist'), join(here, 'static/dist')]
const common = { bundle: true, minify: true, write: false, metafile: true, charset: 'utf8', target: 'es2022', legalComments: 'none', absWorkingDir: here, preserveSymlinks: true }

const folders = ['editor', 'preview/page', 'preview/src', 'static/preview', 'style']

// The digest of all that the result depends on, so that a test without node notices a change
// after which nothing was built.
function digestOfSources() {
  const hash = createHash('sha256')
  const files = ['build.mjs', 'preview/frame.html', 'package-lock.json', ...folders.flatMap(dir => readdirSync(join(here, dir)).map(name => `${dir}/${name}`))].sort()
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(here, file))).update('\0')
  return hash.digest('hex')
}

// text:./x.js is the text of x.js, bundled on its own.
const texts = {}
const asText = {
  name: 'texts',
  setup(b) {
    b.onResolve({ filter: /^text:/ }, ({ path, resolveDir }) => ({ path: join(resolveDir, path.slice(5)), namespace: 'text' }))
    b.onLoad({ filter: /.*/, namespace: 'text' }, async ({ path }) => {
      const built = await build({ ...common, entryPoints: [path], format: 'iife' })
      texts[basename(path)] = built.outputFiles[0].text
      return { contents: built.outputFiles[0].text, loader: 'text' }
    })
  },
}

// What sucrase loads and the preview never asks it for: to check its options, to make source maps, and to
// write out tokens. A frame starts the sooner without.
const unused = {
  name: 'unused',
  setup(b) {
    b.onResolve({ filter: /^(ts-interface-checker|@jridgewell\/gen-mapping|lines-and-columns)$/ }, ({ path }) => ({ path, namespace: 'unused' }))
    b.onLoad({ filter: /.*/, namespace: 'unused' }, () => ({
      contents: 'const all = new Proxy(() => all, { get: () => all })\nmodule.exports = Object.create(all)', loader: 'js',
    }))
  },
}
const program = await build({ ...common, entryPoints: ['preview/src/frame.js'], format: 'iife', plugins: [asText, unused] })

// The packages are CommonJS, as the modules of an app are when they run. Each is one module,
// which requires the others.
const require = createRequire(import.meta.url)
const names = ['react', 'react/jsx-runtime', 'react/jsx-dev-runtime', 'react-dom', 'react-dom/client']
const packages = await build({
  ...common, format: 'cjs', outdir: 'out', define: { 'process.env.NODE_ENV': '"production"' },
  entryPoints: Object.fromEntries(names.map(name => [name.replace('/', '__'), name])),
  plugins: [{
    name: 'others',
    setup(b) {
      b.onResolve({ filter: /.*/ }, ({ kind, path }) => (kind !== 'entry-point' && names.includes(path) ? { path, external: true } : undefined))
    },
  }],
})
const set = {}
for (const { path, text } of packages.outputFiles) {
  set[basename(path, '.js').replace('__', '/')] = { code: text, imports: names.filter(name => text.includes(`require("${name}")`)) }
}

// What pages load: a script for each kind of page, with what they have in common in files of their
// own, and one style sheet.
const page = await build({
  ...common, format: 'esm', splitting: true, outdir: pageOut, jsx: 'automatic', jsxImportSource: 'preact',
  entryPoints: { editor: 'editor/app.jsx', preview: 'preview/page/main.js', project: 'editor/project.js', shell: 'editor/shell.js', style: 'style/style.css' },
})

// The licence of each package that is part of a result.
const inputs = [program, packages, page].flatMap(({ metafile }) => Object.keys(metafile.inputs))
const used = [...new Set(inputs.map(path => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]).filter(Boolean))].sort()
const licences = used.map(name => {
  const dir = join(here, 'node_modules', name)
  const file = readdirSync(dir).find(f => /^licen[cs]e/i.test(f))
  const { version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  return `${name} ${version}\n\n${readFileSync(join(dir, file), 'utf8').trim()}\n`
})

for (const dir of [out, pageOut]) {
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
}
for (const { path, contents } of page.outputFiles) writeFileSync(path, contents)
writeFileSync(join(out, 'SOURCES'), digestOfSources() + '\n')
writeFileSync(join(out, 'LICENCES'), licences.join('\n' + '-'.repeat(80) + '\n\n'))
const { version } = JSON.parse(readFileSync(require.resolve('react/package.json'), 'utf8'))
const scripts = [program.outputFiles[0].text, texts['inner.js']]
const results = {
  'frame.html': readFileSync(join(here, 'preview/frame.html'), 'utf8').replace('PROGRAM', () => scripts[0]),
  'packages.json': JSON.stringify({ version, modules: set }, null, 1) + '\n',
}
// The two scripts that the policy of the frame allows: its program, and that of the app's frame, which
// is a text in the program.
writeFileSync(join(out, 'inner.js'), scripts[1])
writeFileSync(join(out, 'SCRIPTS'), scripts.map(text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`).join(' '))
for (const [name, text] of Object.entries(results)) {
  writeFileSync(join(out, name), text)
  writeFileSync(join(out, name + '.gz'), gzipSync(text, { level: 9 })) // what is embedded
}
