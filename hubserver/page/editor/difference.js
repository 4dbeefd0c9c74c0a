// difference.js says how one set of values becomes another, in the words that `tool push`
// uses: "2 added, 1 changed", + key: value, ~ key: from → to, - key: value.

import { compare, parse, write } from "./json.js";

const signs = { added: "+", changed: "~", removed: "-" };
const kinds = Object.keys(signs);

// difference lists the keys by which two Maps of canonical texts differ, in key order:
// [{kind, key, from, to}], without from or to where there is no value.
export function difference(from, to) {
  const changes = [];
  for (const [key, text] of to) {
    const before = from.get(key);
    if (before === undefined) changes.push({ kind: "added", key, to: text });
    else if (before !== text) changes.push({ kind: "changed", key, from: before, to: text });
  }
  for (const [key, text] of from) if (!to.has(key)) changes.push({ kind: "removed", key, from: text });
  return changes.sort((a, b) => compare(a.key, b.key));
}

// counts writes how many changes there are of each kind.
export function counts(changes) {
  const parts = kinds.map((kind) => [kind, changes.filter((c) => c.kind === kind).length]).filter(([, n]) => n > 0);
  return parts.length === 0 ? "no difference" : parts.map(([kind, n]) => `${n} ${kind}`).join(", ");
}

// sign returns the character that marks a kind of change.
export const sign = (kind) => signs[kind];

// elements lists the elements by which two arrays differ: [{kind, index, from, to}];
// undefined unless both texts are arrays.
export function elements(from, to) {
  if (from?.[0] !== "[" || to?.[0] !== "[") return undefined;
  const a = parse(from).map(write);
  const b = parse(to).map(write);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) (endA--, endB--);
  const changes = [];
  let i = start;
  let j = start;
  for (const [sameA, sameB] of [...common(a.slice(start, endA), b.slice(start, endB)), [endA - start, endB - start]]) {
    for (; i < start + sameA && j < start + sameB; i++, j++)
      changes.push({ kind: "changed", index: j, from: a[i], to: b[j] });
    for (; i < start + sameA; i++) changes.push({ kind: "removed", index: i, from: a[i] });
    for (; j < start + sameB; j++) changes.push({ kind: "added", index: j, to: b[j] });
    i++;
    j++;
  }
  return changes;
}

// maxTable bounds the work of common; beyond it arrays are compared place by place.
const maxTable = 1 << 20;

// common returns the pairs of indexes of a longest common subsequence.
function common(a, b) {
  if (a.length * b.length > maxTable) return [];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  const same = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) same.push([i++, j++]);
    else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i++;
    else j++;
  }
  return same;
}
