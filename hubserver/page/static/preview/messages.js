// What the frame says, checked before the page shows it: the frame runs other people's code,
// so that every message may be made up. Everything that is shown is shown as text.

const text = (v, most) => (typeof v === 'string' ? v.slice(0, most) : '')
const count = v => (Number.isFinite(v) && v >= 0 ? Math.floor(v) : 0)
const list = (v, most) => (Array.isArray(v) ? v.slice(0, most) : [])
const kinds = ['generate', 'build', 'app', 'hang']
const levels = ['info', 'warn', 'error']
const signs = [' ', '+', '-', '…']

const note = v => ({ level: levels.includes(v?.level) ? v.level : 'info', at: text(v?.at, 1024), text: text(v?.text, 4000) })

const readers = {
  ready: () => ({}),
  pong: m => ({ id: count(m.id) }),
  left: m => ({ n: count(m.n), address: text(m.address, 200) }),
  printed: m => ({ n: count(m.n), ...note(m), at: '' }),
  painted: m => ({ n: count(m.n), times: numbers(m.times) }),
  failed: m => ({
    n: count(m.n), kind: kinds.includes(m.kind) ? m.kind : 'app', message: text(m.message, 4000) || 'unknown failure',
    file: text(m.file, 1024), line: count(m.line), column: count(m.column), trace: text(m.trace, 4000),
  }),
  generated: m => ({
    n: count(m.n), count: count(m.count),
    previews: list(m.previews, 500).map(p => ({ name: text(p?.name, 200), group: text(p?.group, 200) })).filter(p => p.name),
    notes: list(m.notes, 100).map(note),
    changes: m.changes && typeof m.changes === 'object' ? changes(m.changes) : null,
  }),
}

const changes = c => ({
  count: count(c.count),
  files: list(c.files, 20).map(f => ({
    path: text(f?.path, 1024), change: text(f?.change, 10),
    lines: list(f?.lines, 400).map(l => [signs.includes(l?.[0]) ? l[0] : ' ', text(l?.[1], 400)]),
  })),
})

function numbers(times) {
  if (typeof times !== 'object' || times === null) return {}
  return Object.fromEntries(Object.entries(times).slice(0, 20).filter(([name, v]) => name.length < 20 && Number.isFinite(v)))
}

/** read returns a message of the frame with its type, or null for anything else. */
export function read(data) {
  if (typeof data !== 'object' || data === null || typeof data.hub !== 'string' || !Object.hasOwn(readers, data.hub)) return null
  return { type: data.hub, ...readers[data.hub](data) }
}
