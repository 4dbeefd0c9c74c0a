// Builds the frame's program and the set of packages that apps may import, both into dist/.
// The result depends only on the sources and on package-lock.json.

import { build } from 'esbuild'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const out = process.argv[2] ?? join(here, 'dist')
const common = { bundle: true, minify: true, write: false, metafile: true, charset: 'utf8', target: 'es2022', legalComments: 'none', absWorkingDir: here }

// The digest of all that the result depends on, so that a test without node notices a change
// after which nothing was built.
function digestOfSources() {
  const hash = createHash('sha256')
  const files = ['build.mjs', 'package-lock.json', ...readdirSync(join(here, 'src')).map(name => `src/${name}`)].sort()
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(here, file))).update('\0')
  return hash.digest('hex')
}

// text:./x.js is the text of x.js, bundled on its own.
const texts = {
  name: 'texts',
  setup(b) {
    b.onResolve({ filter: /^text:/ }, ({ path, resolveDir }) => ({ path: join(resolveDir, path.slice(5)), namespace: 'text' }))
    b.onLoad({ filter: /.*/, namespace: 'text' }, async ({ path }) => {
      const built = await build({ ...common, entryPoints: [path], format: 'iife' })
      return { contents: built.outputFiles[0].text, loader: 'text' }
    })
  },
}

const frame = await build({ ...common, entryPoints: ['src/frame.js'], format: 'iife', plugins: [texts] })

// The packages are CommonJS: an entry for each names its exports, so that an app can import them.
const require = createRequire(import.meta.url)
process.env.NODE_ENV = 'production'
const names = ['react', 'react/jsx-runtime', 'react/jsx-dev-runtime', 'react-dom', 'react-dom/client']
const packages = await build({
  ...common, format: 'esm', splitting: true, outdir: 'out', chunkNames: 'chunk-[hash]', define: { 'process.env.NODE_ENV': '"production"' },
  entryPoints: Object.fromEntries(names.map(name => [name.replace('/', '__'), name])),
  plugins: [{
    name: 'entries',
    setup(b) {
      b.onResolve({ filter: /.*/ }, ({ kind, path }) => (kind === 'entry-point' ? { path, namespace: 'entry' } : undefined))
      b.onLoad({ filter: /.*/, namespace: 'entry' }, ({ path }) => {
        const exported = Object.keys(require(path)).filter(name => name !== 'default' && /^[A-Za-z_$][\w$]*$/.test(name)).sort()
        return { contents: `export { ${exported.join(', ')} } from '${path}'\nexport { default } from '${path}'`, resolveDir: here }
      })
    },
  }],
})
const set = {}
for (const file of packages.outputFiles.sort((a, b) => (a.path < b.path ? -1 : 1))) {
  const name = file.path.slice(file.path.lastIndexOf('/') + 1)
  set[name.startsWith('chunk-') ? name : name.replace(/\.js$/, '').replace('__', '/')] = file.text
}

// The licence of each package that is part of a result.
const inputs = [frame, packages].flatMap(({ metafile }) => Object.keys(metafile.inputs))
const used = [...new Set(inputs.map(path => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]).filter(Boolean))].sort()
const licences = used.map(name => {
  const dir = join(here, 'node_modules', name)
  const file = readdirSync(dir).find(f => /^licen[cs]e/i.test(f))
  const { version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  return `${name} ${version}\n\n${readFileSync(join(dir, file), 'utf8').trim()}\n`
})

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
writeFileSync(join(out, 'SOURCES'), digestOfSources() + '\n')
writeFileSync(join(out, 'LICENCES'), licences.join('\n' + '-'.repeat(80) + '\n\n'))
const { version } = JSON.parse(readFileSync(require.resolve('react/package.json'), 'utf8'))
const results = { 'frame.js': frame.outputFiles[0].text, 'packages.json': JSON.stringify({ version, modules: set }, null, 1) + '\n' }
for (const [name, text] of Object.entries(results)) {
  writeFileSync(join(out, name), text)
  writeFileSync(join(out, name + '.gz'), gzipSync(text, { level: 9 })) // what is embedded
}
