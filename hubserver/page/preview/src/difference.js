// The difference between two texts, line by line, for people.

import { common } from '../../editor/common.js'

/**
 * difference returns [[' ', line], ['-', line], ['+', line], …] with a few lines around
 * each change; ['…', ''] where lines are left out.
 */
export function difference(before, after, around = 3) {
  const a = before === undefined ? [] : before.split('\n')
  const b = after === undefined ? [] : after.split('\n')
  const all = []
  let i = 0
  let j = 0
  for (const [sameA, sameB] of common(a, b)) {
    while (i < sameA) all.push(['-', a[i++]])
    while (j < sameB) all.push(['+', b[j++]])
    if (i < a.length) all.push([' ', a[i]])
    i++
    j++
  }
  return abridged(all, around)
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
