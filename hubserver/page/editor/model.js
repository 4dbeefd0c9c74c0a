// model.js is a config with the edits made to it in this tab: the base as the hub stores
// it, and what was typed. It knows no DOM, no network and no storage.

import { compare, parse, quote, write } from "./json.js";
import { clash, clashes, firstSegment, keyProblem } from "./keys.js";
import { toInput, toText } from "./values.js";
import { difference } from "./difference.js";
import { root } from "./enrichments.js";

// readConfig returns the Map of keys to canonical texts of a flat config as JSON.
export function readConfig(json) {
  return readNode(parse(json));
}

// readNode is readConfig of a parsed object.
export const readNode = (node) => new Map(node.members.map(([key, value]) => [key, write(value)]));

// writeConfig returns the canonical JSON of a Map of keys to canonical texts.
export function writeConfig(values) {
  const members = [...values].sort(([a], [b]) => compare(a, b));
  return `{${members.map(([key, text]) => `${quote(key)}:${text}`).join(",")}}`;
}

// Model is a config with edits. An edit is {removed: true, base} or {type, input, text,
// base}: text is canonical, undefined while the input is no value; base is the text that
// was edited, null for a key that was added.
export class Model {
  #sorted;
  #clashes;

  // base is {revision, values}: values a Map of canonical texts.
  constructor(base) {
    this.rebase(base, new Map());
  }

  // rebase replaces the base and the edits.
  rebase(base, edits) {
    this.base = base;
    this.edits = edits;
    this.#changed();
  }

  #changed() {
    this.#sorted = undefined;
    this.#clashes = undefined;
  }

  get dirty() {
    return this.edits.size > 0;
  }

  has(key) {
    const edit = this.edits.get(key);
    return edit ? !edit.removed : this.base.values.has(key);
  }

  // knows reports whether a key is in the base or was edited.
  knows(key) {
    return this.base.values.has(key) || this.edits.has(key);
  }

  // keys lists the keys of base and edits in order, those that are to be removed too.
  keys() {
    this.#sorted ??= [...new Set([...this.base.values.keys(), ...this.edits.keys()])].sort(compare);
    return this.#sorted;
  }

  // groups returns a Map from each first segment, with its dot, to its keys. Keys of one
  // name are in "", except enrichments, which are a group whatever their form.
  // more are keys that are listed with those of the config.
  groups(more = []) {
    const groups = new Map([["", []]]);
    const all = more.length === 0 ? this.keys() : [...this.keys(), ...more].sort(compare);
    for (const key of all) {
      const segment = firstSegment(key);
      const name = segment === key && key !== root ? "" : segment + ".";
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(key);
    }
    if (groups.get("").length === 0) groups.delete("");
    return groups;
  }

  // field returns what is shown of a key: {key, type, input, text, base, state, error};
  // state is same, added, changed or removed.
  field(key) {
    const before = this.base.values.get(key) ?? null;
    const edit = this.edits.get(key);
    if (!edit) return { key, ...toInput(before), text: before, base: before, state: "same", error: "" };
    if (edit.removed) return { key, ...toInput(before), text: before, base: before, state: "removed", error: "" };
    const { type, input, text } = edit;
    return { key, type, input, text, base: before, state: before === null ? "added" : "changed", error: this.problem(key) };
  }

  // problem returns why the edit of a key cannot be saved, "" if it can.
  problem(key) {
    const edit = this.edits.get(key);
    if (!edit || edit.removed) return "";
    if (edit.text === undefined) return toText(edit).error;
    this.#clashes ??= clashes(this.keys().filter((k) => this.has(k)));
    const other = this.#clashes.get(key);
    if (other === undefined) return "";
    return `${quote(key)} and ${quote(other)} cannot both hold a value: remove one of them.`;
  }

  // problems lists the keys whose edits cannot be saved.
  problems() {
    return [...this.edits.keys()].filter((key) => this.problem(key) !== "").sort(compare);
  }

  // set records what was typed for a key that exists.
  set(key, type, input) {
    const known = this.base.values.get(key) ?? null;
    const { text } = toText({ type, input });
    if (text !== undefined && text === known) this.edits.delete(key);
    else this.edits.set(key, { type, input, text, base: known });
    if (!this.base.values.has(key)) this.#changed();
  }

  // setText records a canonical text for a key, which is added if it does not exist.
  setText(key, text) {
    const { type, input } = toInput(text);
    this.set(key, type, input);
    this.#changed();
  }

  // add records a new key, and returns why it cannot, "" if it can.
  add(key, type, input) {
    const problem = this.newKeyProblem(key) || toText({ type, input }).error || "";
    if (problem === "") this.set(key, type, input);
    this.#changed();
    return problem;
  }

  // newKeyProblem returns why a key cannot be added, "" if it can.
  newKeyProblem(key) {
    const problem = keyProblem(key);
    if (problem !== "") return `Not a key: ${problem}.`;
    if (this.has(key)) return `The key ${quote(key)} exists already.`;
    const other = clash(key, new Set(this.keys().filter((k) => this.has(k))));
    if (other === undefined) return "";
    return other.length < key.length
      ? `The key ${quote(other)} holds a value, so no key can be below it.`
      : `The key ${quote(other)} is below it, so it cannot hold a value.`;
  }

  remove(key) {
    const before = this.base.values.get(key);
    if (before === undefined) this.edits.delete(key);
    else this.edits.set(key, { removed: true, base: before });
    this.#changed();
  }

  // reset drops the edit of one key.
  reset(key) {
    this.edits.delete(key);
    this.#changed();
  }

  // values returns the config as it is with the edits. What was typed and is no value
  // counts as not typed yet.
  values() {
    const values = new Map(this.base.values);
    for (const [key, edit] of this.edits) {
      if (edit.removed) values.delete(key);
      else if (edit.text !== undefined) values.set(key, edit.text);
    }
    return values;
  }

  // changes lists the edits that can be saved.
  changes() {
    const from = new Map();
    const to = new Map();
    for (const [key, edit] of this.edits) {
      const before = this.base.values.get(key);
      if (before !== undefined) from.set(key, before);
      if (edit.removed) continue;
      if (edit.text !== undefined) to.set(key, edit.text);
      else if (before !== undefined) to.set(key, before);
    }
    return difference(from, to);
  }

  // patch returns the body of the PATCH that saves the edits.
  patch() {
    return writePatch(this.changes());
  }
}

// writePatch returns the body of the PATCH that makes these changes. Numbers are written
// as they were typed, which JSON.stringify could not do.
export function writePatch(changes) {
  const set = new Map(changes.filter((c) => c.kind !== "removed").map((c) => [c.key, c.to]));
  const remove = changes.filter((c) => c.kind === "removed").map((c) => quote(c.key));
  return `{"set":${writeConfig(set)},"remove":[${remove.join(",")}]}`;
}

// undoing returns the edits that undo changes on a config that contains them.
export function undoing(changes) {
  return new Map(changes.map(({ key, from, to }) => {
    const base = to ?? null;
    return [key, from === undefined ? { removed: true, base } : { ...toInput(from), text: from, base }];
  }));
}
