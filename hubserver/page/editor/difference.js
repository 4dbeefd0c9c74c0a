// difference.js says how one set of values becomes another, in the words that `tool push`
// uses: "2 added, 1 changed", + key: value, ~ key: from → to, - key: value.

import { common } from "./common.js";
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
  const changes = [];
  let i = 0;
  let j = 0;
  for (const [sameA, sameB] of common(a, b)) {
    for (; i < sameA && j < sameB; i++, j++)
      changes.push({ kind: "changed", index: j, from: a[i], to: b[j] });
    for (; i < sameA; i++) changes.push({ kind: "removed", index: i, from: a[i] });
    for (; j < sameB; j++) changes.push({ kind: "added", index: j, to: b[j] });
    i++;
    j++;
  }
  return changes;
}
