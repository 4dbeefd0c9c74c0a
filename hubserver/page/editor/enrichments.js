// enrichments.js reads enrichments as records: an array of records in the key
// enrichments, or an object of records in the keys below it. It also knows which members
// of a record name a part of the API.

import { parse, write } from "./json.js";
import { joinKey, splitKey } from "./keys.js";

// root is the setting that contains enrichments.
export const root = "enrichments";

// isEnrichment reports whether a key belongs to them.
export const isEnrichment = (key) => key === root || key.startsWith(root + ".");

// readArray returns the records of an array's canonical text, each a Map from member
// names to canonical texts; null unless all elements are objects.
export function readArray(text) {
  const node = parse(text);
  if (node.kind !== "array" || !node.items.every((item) => item.kind === "object")) return null;
  return node.items.map((item) => new Map(item.members.map(([name, value]) => [name, write(value)])));
}

// writeArray returns the canonical text of an array of records.
export function writeArray(records) {
  const text = `[${records.map((r) => `{${[...r].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`).join(",")}]`;
  return write(parse(text)); // puts members in order
}

// recordOf returns the name of the record that a key belongs to, null for another key.
export function recordOf(key) {
  const path = splitKey(key);
  return path[0] === root && path.length > 1 ? path[1] : null;
}

// recordKey returns the key of a record's member.
export const recordKey = (record, ...path) => joinKey([root, record, ...path]);

// references are the members of a record that name a part of the API.
const references = ["target", "operation", "schema"];

// isReference reports whether a member of a record, by its path, names a part of the API.
export const isReference = (path) => path.length === 1 && references.includes(path[0]);

// Targets is the set of what a record can refer to in an API:
//   an operation, by its operationId or as "METHOD /path";
//   a path, as "/path";
//   a schema, by its name;
//   a property of a schema, as "Schema.property";
//   each of them as a JSON pointer into the description, such as
//   "#/components/schemas/Pet/properties/name".
// The hub lists operations, schemas and their properties; it says so if there are more
// than it lists, and then nothing is marked.
export class Targets {
  constructor({ operations, schemas, complete }) {
    this.complete = complete;
    this.names = new Set();
    this.suggestions = [];
    for (const { operationId, method, path } of operations) {
      if (operationId) this.#add(operationId);
      this.#add(`${method} ${path}`);
      this.#alias(path, `#/paths/${token(path)}`, `#/paths/${token(path)}/${method.toLowerCase()}`);
    }
    for (const { name, pointer, properties } of schemas) {
      this.#add(name);
      this.#alias(pointer);
      for (const property of properties) {
        this.#add(`${name}.${property}`);
        this.#alias(`${pointer}/properties/${token(property)}`);
      }
    }
  }

  #add(name) {
    if (!this.names.has(name)) this.suggestions.push(name);
    this.names.add(name);
  }

  #alias(...names) {
    for (const name of names) this.names.add(name);
  }

  // has reports whether the API has this target, or might have it. The method may be in
  // small letters.
  has(target) {
    if (!this.complete || this.names.has(target)) return true;
    const [method, path, ...rest] = target.split(" ");
    return path !== undefined && rest.length === 0 && this.names.has(`${method.toUpperCase()} ${path}`);
  }

  // suggest returns some targets that contain what was typed.
  suggest(typed, count = 50) {
    const wanted = typed.toLowerCase();
    const found = [];
    for (const name of this.suggestions) {
      if (name.toLowerCase().includes(wanted)) found.push(name);
      if (found.length === count) break;
    }
    return found;
  }
}

// token escapes a name as a token of a JSON pointer.
const token = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");
