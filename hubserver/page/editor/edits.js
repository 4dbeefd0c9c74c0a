// edits.js applies edits to a config. A config is a Map of keys to canonical texts. An edit is
// {removed: true, base} or {type, input, text, base}: text is canonical, undefined while the input is no
// value; base is the text that was edited, null for a key that was added.

import { compare, kind, parse, pretty, quote, write } from "./json.js";
import { clash, joinKey, keyProblem, splitKey } from "./keys.js";
import { difference } from "./difference.js";
import { toInput, toText, typeOf } from "./values.js";

// readConfig returns the Map of a flat config as JSON.
export const readConfig = (json) => readObject(parse(json));

// readObject is readConfig of a parsed object.
export const readObject = (object) => new Map(Object.entries(object).map(([key, value]) => [key, write(value)]));

// readSettings returns the config of settings as client.json has them: objects in objects. It throws an
// Error that says what is wrong.
export function readSettings(json) {
  const settings = parse(json);
  if (kind(settings) !== "object") throw new Error("The settings start with { and end with }.");
  const values = new Map();
  const read = (object, above) => {
    for (const [name, value] of Object.entries(object)) {
      const path = [...above, name];
      const text = write(value);
      if (typeOf(text) === "object" && text !== "{}") read(value, path);
      else values.set(joinKey(path), text);
    }
  };
  read(settings, []);
  return values;
}

// writeSettings returns the settings of a config, as client.json has them.
export function writeSettings(values) {
  const settings = Object.create(null);
  for (const [key, text] of values) {
    const path = splitKey(key);
    const name = path.pop();
    path.reduce((object, part) => (object[part] ??= Object.create(null)), settings)[name] = parse(text);
  }
  return pretty(settings);
}

// writeConfig returns the canonical JSON of a config.
export function writeConfig(values) {
  const members = [...values].sort(([a], [b]) => compare(a, b));
  return `{${members.map(([key, text]) => `${quote(key)}:${text}`).join(",")}}`;
}

// editOf returns the edit that was typed for a key with the text base; undefined if that changes nothing.
export function editOf(type, input, base) {
  const { text } = toText({ type, input });
  return text !== undefined && text === base ? undefined : { type, input, text, base };
}

// editTo returns the edit that makes a key have a canonical text, undefined to remove it; undefined if that
// changes nothing of base.
export function editTo(text, base) {
  if (text === undefined) return base === null ? undefined : { removed: true, base };
  const { type, input } = toInput(text);
  return editOf(type, input, base);
}

// apply returns the config with the edits. What was typed and is no value counts as not typed yet.
export function apply(values, edits) {
  const edited = new Map(values);
  for (const [key, edit] of edits) {
    if (edit.removed) edited.delete(key);
    else if (edit.text !== undefined) edited.set(key, edit.text);
  }
  return edited;
}

// changesOf lists the edits of a config that can be saved.
export function changesOf(values, edits) {
  const before = [...edits.keys()].filter((key) => values.has(key)).map((key) => [key, values.get(key)]);
  return difference(new Map(before), apply(new Map(before), edits));
}

// writePatch returns the body of the PATCH that makes these changes. Numbers are written as they were
// typed, and so are lists: what occurs twice in one is for the hub to find.
export function writePatch(changes, edits) {
  const typed = ({ key, to }) => (edits.get(key)?.type === "list" ? edits.get(key).input : to);
  const set = new Map(changes.filter((c) => c.kind !== "removed").map((c) => [c.key, typed(c)]));
  const remove = changes.filter((c) => c.kind === "removed").map((c) => quote(c.key));
  return `{"set":${writeConfig(set)},"remove":[${remove.join(",")}]}`;
}

// undoing returns the edits that undo changes on a config that contains them.
export const undoing = (changes) => new Map(changes.map(({ key, from, to }) => [key, editTo(from, to ?? null)]));

// newKeyProblem returns why a key cannot be added to keys, a Set of those that hold a value; "" if it can.
export function newKeyProblem(key, keys) {
  const problem = keyProblem(key);
  if (problem !== "") return `Not a key: ${problem}.`;
  if (keys.has(key)) return `The key ${quote(key)} exists already.`;
  const other = clash(key, keys);
  if (other === undefined) return "";
  return other.length < key.length
    ? `The key ${quote(other)} holds a value, so no key can be below it.`
    : `The key ${quote(other)} is below it, so it cannot hold a value.`;
}

// problems returns a Map from the keys whose edits cannot be saved to why not.
export function problems(values, edits) {
  const found = new Map();
  let holding;
  for (const [key, edit] of edits) {
    if (edit.removed) continue;
    if (edit.text === undefined) {
      found.set(key, toText(edit).error);
    } else if (!values.has(key)) {
      holding ??= new Set(apply(values, edits).keys());
      const other = clash(key, holding);
      if (other !== undefined)
        found.set(key, `${quote(key)} and ${quote(other)} cannot both hold a value: remove one of them.`);
    }
  }
  return found;
}
