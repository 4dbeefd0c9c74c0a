// The difference between two texts, line by line, for people.

const most = 4000 // lines of a text that are compared

/**
 * difference returns [[' ', line], ['-', line], ['+', line], …] with a few lines around
 * each change; ['…', ''] where lines are left out.
 */
export function difference(before, after, around = 3) {
  const a = before === undefined ? [] : before.split('\n')
  const b = after === undefined ? [] : after.split('\n')
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const all = [
    ...a.slice(0, start).map(l => [' ', l]),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(l => [' ', l]),
  ]
  return abridged(all, around)
}

function middle(a, b) {
  const removed = a.map(l => ['-', l])
  const added = b.map(l => ['+', l])
  if (!a.length || !b.length || a.length * b.length > most * 100) return [...removed, ...added]
  // The length of the longest common subsequence of each pair of rests.
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1])
    }
  }
  const out = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push([' ', a[i++]])
      j++
    } else if (j < b.length && (i === a.length || common[i * width + j + 1] > common[(i + 1) * width + j])) out.push(added[j++])
    else out.push(removed[i++])
  }
  return out
}

function abridged(all, around) {
  const near = new Uint8Array(all.length)
  all.forEach(([sign], i) => {
    if (sign !== ' ') near.fill(1, Math.max(0, i - around), i + around + 1)
  })
  const out = []
  all.forEach((line, i) => {
    if (near[i]) out.push(line)
    else if (out.length === 0 || out[out.length - 1][0] !== '…') out.push(['…', ''])
  })
  return out.length === 1 && out[0][0] === '…' ? [] : out
}

/** changesBetween compares two maps of artifacts: {count, files: [{path, change, lines}]}. */
export function changesBetween(before, after, shown) {
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(p => before.get(p) !== after.get(p)).sort()
  return {
    count: paths.length,
    files: paths.slice(0, shown).map(path => ({
      path, change: !before.has(path) ? 'added' : !after.has(path) ? 'removed' : 'changed',
      lines: difference(before.get(path), after.get(path)).slice(0, 400).map(([sign, line]) => [sign, line.slice(0, 400)]),
    })),
  }
}
