// merge.js applies edits, made on one version of a config, to a newer version of it.

import { clash } from "./keys.js";
import { toInput } from "./values.js";

// merge compares each edit with what happened to its key since. edits is a Map from key
// to {removed} or {type, input, text}; each has base, the canonical text that was edited,
// null for a key that was added. values is the newer config. It returns
//   kept: the edits that still apply, with base as it is now,
//   same: the keys whose edit the newer config contains already,
//   conflicts: [{key, base, theirs, mine, blocks}] for keys that both sides changed
//     differently. Texts are canonical, null where there is no value; mine is undefined
//     for what was typed but is no value. blocks is the other key, where a key of theirs
//     and one of mine cannot exist together.
// Nothing that was typed is dropped: a conflict's edit stays in its edit member.
export function merge(edits, values) {
  const kept = new Map();
  const same = [];
  const conflicts = [];
  for (const [key, edit] of edits) {
    const theirs = values.get(key) ?? null;
    const mine = edit.removed ? null : edit.text;
    if (theirs === mine) same.push(key);
    else if (theirs === edit.base) kept.set(key, edit);
    else conflicts.push({ key, base: edit.base, theirs, mine, edit });
  }
  for (const [key, edit] of kept) {
    const blocks = edit.removed || edit.base !== null ? undefined : clashing(key, edits, values);
    if (blocks === undefined) continue;
    kept.delete(key);
    conflicts.push({ key, base: null, theirs: null, mine: edit.text, edit, blocks });
  }
  return { kept, same, conflicts };
}

// clashing returns a key of values that an added key excludes and no edit removes.
function clashing(key, edits, values) {
  const staying = new Map([...values].filter(([k]) => !edits.get(k)?.removed));
  return clash(key, staying);
}

// resolve returns the edits after the choices for conflicts: "mine" or "theirs" for each.
export function resolve(kept, conflicts, choices, values) {
  const edits = new Map(kept);
  for (const conflict of conflicts) {
    if (choices.get(conflict.key) !== "mine") continue;
    edits.set(conflict.key, { ...conflict.edit, base: conflict.theirs });
    if (conflict.blocks !== undefined) {
      for (const key of blocking(conflict.key, values)) edits.set(key, { removed: true, base: values.get(key) });
    }
  }
  return edits;
}

// blocking lists the keys of values that cannot exist together with key.
function blocking(key, values) {
  return [...values.keys()].filter((k) => k !== key && (k.startsWith(key + ".") || key.startsWith(k + ".")));
}

// remaining returns the edits that are still to be saved after sent was: those that were
// made while it was on its way. before and saved are the values before and after the save.
export function remaining(sent, edits, before, saved) {
  const left = new Map();
  for (const [key, edit] of edits) {
    const base = saved.get(key) ?? null;
    if (sent.get(key) === edit || (!edit.removed && edit.text === base) || (edit.removed && base === null)) continue;
    left.set(key, { ...edit, base });
  }
  for (const key of sent.keys()) {
    // reset meanwhile
    const was = before.get(key) ?? null;
    const base = saved.get(key) ?? null;
    if (edits.has(key) || was === base) continue;
    left.set(key, was === null ? { removed: true, base } : { ...toInput(was), text: was, base });
  }
  return left;
}
