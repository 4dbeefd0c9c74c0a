// references.js knows which parts of an API the records of enrichments can refer to.

import { splitKey } from "./keys.js";

// root is the setting that contains enrichments.
export const root = "enrichments";

// isReference reports whether a member of a record, by its name, refers to a part of the API.
export const isReference = (name) => ["target", "operation", "schema"].includes(name);

// Targets is the set of what a record can refer to in an API:
//   an operation, by its operationId or as "METHOD /path";
//   a path, as "/path";
//   a schema, by its name;
//   a property of a schema, as "Schema.property";
//   each of them as a JSON pointer into the description, such as
//   "#/components/schemas/Pet/properties/name".
// The hub lists operations, schemas and their properties; it says so if there are more than it lists, and
// then nothing is missing.
export class Targets {
  #names = new Map(); // from each name of a target to what is said about it: {name, method, path}
  suggestions = []; // the targets, each by one name

  constructor({ operations, schemas, complete }) {
    this.complete = complete;
    for (const { operationId, method, path } of operations) {
      const target = { name: operationId || `${method} ${path}`, method, path, about: `${method} ${path}` };
      this.#add(
        target,
        operationId,
        `${method} ${path}`,
        path,
        `#/paths/${token(path)}`,
        `#/paths/${token(path)}/${method.toLowerCase()}`,
      );
    }
    for (const { name, pointer, properties } of schemas) {
      this.#add({ name, about: "schema" }, name, pointer);
      for (const property of properties) {
        const target = { name: `${name}.${property}`, about: `field of ${name}` };
        this.#add(target, target.name, `${pointer}/properties/${token(property)}`);
      }
    }
  }

  #add(target, ...names) {
    this.suggestions.push(target);
    for (const name of names) if (name && !this.#names.has(name)) this.#names.set(name, target);
  }

  // find returns what a reference leads to, undefined if the API has no such part. The method may be in
  // small letters.
  find(reference) {
    const [method, path] = reference.split(" ");
    return this.#names.get(reference) ?? this.#names.get(`${method.toUpperCase()} ${path}`);
  }

  // lacks reports whether the API certainly has no such part.
  lacks(reference) {
    return this.complete && !this.find(reference);
  }

  // covered returns how many of the operations the references lead to.
  covered(references) {
    const found = new Set(references.map((reference) => this.find(reference)));
    return this.operations.filter((target) => found.has(target)).length;
  }

  get operations() {
    return this.suggestions.filter((target) => target.method);
  }
}

// token escapes a name as a token of a JSON pointer.
const token = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");

// referenceIn returns the reference that a key of enrichments in flat form holds, with its canonical text;
// undefined if it holds none.
export function referenceIn(key, text) {
  const path = key.startsWith(`${root}.`) ? splitKey(key) : [];
  return path.length === 3 && isReference(path[2]) && text?.[0] === '"' ? JSON.parse(text) : undefined;
}

// isReferenceKey reports whether a key of enrichments in flat form is to hold a reference.
export const isReferenceKey = (key) => referenceIn(key, '""') !== undefined;
