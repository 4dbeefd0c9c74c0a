// draft.js is the config as this tab has it: the base as the hub stores it, and the edits made to it.
// Everything else is computed from both. It knows no DOM and no network.

import { batch, computed, signal } from "@preact/signals";
import { difference } from "./difference.js";
import { compare } from "./json.js";
import { apply, changesOf, editOf, editTo, newKeyProblem, problems as problemsOf } from "./edits.js";
import { fallback, fieldType } from "./schema.js";
import { toInput, toText } from "./values.js";

export const base = signal({ revision: "", values: new Map() });
export const edits = signal(new Map());
export const schema = signal(null); // a Schema, if the stack has one
export const targets = signal(null); // the Targets of the API, if the viewer may read it

export const changes = computed(() => changesOf(base.value.values, edits.value));
export const problems = computed(() => problemsOf(base.value.values, edits.value));
export const dirty = computed(() => edits.value.size > 0);

// cells has two signals for each key that is shown, so that a keystroke renders that key alone.
const cells = new Map();

function cell(key) {
  let found = cells.get(key);
  if (!found) {
    found = { edit: signal(edits.peek().get(key)), before: computed(() => base.value.values.get(key) ?? null) };
    cells.set(key, found);
  }
  return found;
}

// about returns what the schema says of a key, null if nothing.
export const about = (key) => schema.value?.about(key) ?? null;

// field returns what is shown of a key: {key, type, input, text, before, state, error}; state is same,
// added, changed, removed or unset, for a key that only the schema names.
export function field(key) {
  const {
    edit,
    before: { value: before },
  } = cell(key);
  const of = edit.value;
  if (of && !of.removed) {
    const { type, input, text } = of;
    const error = before !== null && text !== undefined ? "" : (problems.value.get(key) ?? "");
    return { key, type, input, text, before, state: before === null ? "added" : "changed", error };
  }
  if (before !== null)
    return { key, ...toInput(before), text: before, before, state: of ? "removed" : "same", error: "" };
  return { key, ...blank(key), text: undefined, before, state: "unset", error: "" };
}

// blank is what the field of an unset key shows: its default where that is chosen and not typed.
function blank(key) {
  const type = fieldType(about(key));
  return { type, input: type === "boolean" ? (fallback(about(key)) ?? "false") : "" };
}

// keys lists the keys of base and edits in order, those that are to be removed too. It is computed again
// only when a key is added: with many, sorting takes a while.
const added = computed(() => JSON.stringify([...edits.value.keys()].filter((key) => !base.value.values.has(key))));
export const keys = computed(() => [...base.value.values.keys(), ...JSON.parse(added.value)].sort(compare));

// unset lists the keys that the schema names and that could be added.
export const unset = computed(() => {
  const held = new Set(keys.value);
  return (schema.value?.keys() ?? []).filter((key) => !held.has(key) && newKeyProblem(key, held) === "");
});

// values is the config with the edits.
export const values = computed(() => apply(base.value.values, edits.value));

// textOf returns what the value of a key is at this moment, canonical; undefined for none.
export const textOf = (key) => values.value.get(key);

// put makes an edit of one key; undefined undoes it.
function put(key, edit) {
  const next = new Map(edits.peek());
  if (edit) next.set(key, edit);
  else next.delete(key);
  batch(() => {
    edits.value = next;
    if (cells.has(key)) cells.get(key).edit.value = edit;
  });
}

const before = (key) => base.peek().values.get(key) ?? null;

// set records what was typed for a key.
export const set = (key, type, input) => put(key, editOf(type, input, before(key)));

// setText records a canonical text for a key.
export const setText = (key, text) => put(key, editTo(text, before(key)));

// add records a new key, and returns why it cannot, "" if it can.
export function add(key, type, input) {
  const problem = newKeyProblem(key, new Set(values.peek().keys())) || toText({ type, input }).error || "";
  if (problem === "") set(key, type, input);
  return problem;
}

// remove takes a key out of the config.
export const remove = (key) => put(key, editTo(undefined, before(key)));

// editsOf returns the edits with the changes that lead from one config to another, which were made when the
// hub had the values at.
export function editsOf(from, to, at) {
  const next = new Map(edits.peek());
  for (const { key, to: text } of difference(from, to)) {
    const edit = editTo(text, at.get(key) ?? null);
    if (edit) next.set(key, edit);
    else next.delete(key);
  }
  return next;
}

// reset drops the edit of a key.
export const reset = (key) => put(key, undefined);

// rebase replaces the base and all edits.
export function rebase(newer, kept) {
  batch(() => {
    base.value = newer;
    edits.value = kept;
    for (const [key, { edit }] of cells) edit.value = kept.get(key);
  });
}
