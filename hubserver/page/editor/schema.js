// schema.js finds what the JSON Schema of a stack's settings says about a key: title, description,
// default, values and ranges. It validates nothing: the hub does.

import { joinKey, splitKey } from "./keys.js";
import { kind, parse, write } from "./json.js";
import { typeOf } from "./values.js";

// maxSteps bounds how many references and alternatives are followed for one key.
const maxSteps = 64;

// Schema answers for a JSON Schema, given as its text.
export class Schema {
  #found = new Map();

  constructor(text) {
    this.document = parse(text);
  }

  // about returns what is known of a key's value, null if nothing is.
  about(key) {
    if (!this.#found.has(key)) this.#found.set(key, this.#look(splitKey(key)));
    return this.#found.get(key);
  }

  // member returns what is known of a member of an element of the array in key.
  member(key, name) {
    return this.#look([...splitKey(key), 0, name]);
  }

  // members lists the names of the members of an element of the array in key.
  members(key) {
    return this.#names([...splitKey(key), 0]);
  }

  // requires reports whether an object must have the key.
  requires(key) {
    const path = splitKey(key);
    return this.#walk(path.slice(0, -1)).some((s) => Array.isArray(s.required) && s.required.includes(path.at(-1)));
  }

  // keys lists the keys of leaves that the schema names, at most count, in the order of the schema.
  keys(count = 1000) {
    const found = new Set();
    const walk = (schemas, path) => {
      if (found.size >= count || path.length > 16) return;
      const names = namesOf(schemas);
      if (names.length === 0) {
        const types = schemas.length === 0 ? [] : typesOf(combine(schemas));
        if (path.length > 0 && (types.length === 0 || types.some((t) => t !== "object"))) found.add(joinKey(path));
        return;
      }
      for (const name of names) walk(this.#step(schemas, name, { left: maxSteps }), [...path, name]);
    };
    walk(this.#expand(this.document, { left: maxSteps }), []);
    return [...found];
  }

  #names(path) {
    return namesOf(this.#walk(path));
  }

  #look(path) {
    const schemas = this.#walk(path);
    return schemas.length === 0 ? null : combine(schemas);
  }

  #walk(path) {
    const steps = { left: maxSteps };
    return path.reduce((schemas, name) => this.#step(schemas, name, steps), this.#expand(this.document, steps));
  }

  #step(schemas, name, steps) {
    return schemas.flatMap((s) => below(s, name)).flatMap((s) => this.#expand(s, steps));
  }

  // #expand returns a schema with those that it refers to and consists of.
  #expand(schema, steps) {
    if (!isObject(schema) || steps.left-- <= 0) return [];
    const more = Array.isArray(schema.allOf) ? [...schema.allOf] : [];
    if (typeof schema.$ref === "string") more.push(this.#resolve(schema.$ref));
    return [schema, ...more.flatMap((s) => this.#expand(s, steps))];
  }

  #resolve(ref) {
    if (!ref.startsWith("#")) return undefined;
    return ref
      .slice(1)
      .split("/")
      .slice(1)
      .reduce((found, part) => {
        const name = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
        return isObject(found) || Array.isArray(found) ? own(found, name) : undefined;
      }, this.document);
  }
}

const namesOf = (schemas) => [
  ...new Set(schemas.flatMap((s) => (isObject(s.properties) ? Object.keys(s.properties) : []))),
];

// below returns the schemas of a member; 0 stands for any element of an array.
function below(schema, name) {
  if (name === 0) return [schema.items];
  const exact = isObject(schema.properties) ? own(schema.properties, name) : undefined;
  if (exact !== undefined) return [exact];
  const patterns = Object.entries(isObject(schema.patternProperties) ? schema.patternProperties : {});
  const matching = patterns.filter(([pattern]) => matches(pattern, name)).map(([, s]) => s);
  return matching.length > 0 ? matching : [schema.additionalProperties];
}

// combine merges what several schemas say of one value; the first one wins, except for the values that
// each allows.
function combine(schemas) {
  const about = Object.create(null);
  for (const schema of schemas) {
    for (const [name, value] of Object.entries(schema)) if (!(name in about)) about[name] = value;
    if (!Array.isArray(schema.enum) || about.enum === schema.enum) continue;
    about.enum = about.enum.filter((v) => schema.enum.some((w) => write(w) === write(v)));
  }
  return about;
}

// typesOf returns the JSON types that a value may have, [] if it is not limited.
export function typesOf(about) {
  const type = about?.type;
  return Array.isArray(type) ? type : typeof type === "string" ? [type] : [];
}

// choices returns the canonical texts of the values that are allowed, null if they are not listed.
export function choices(about) {
  if (about && "const" in about) return [write(about.const)];
  return Array.isArray(about?.enum) ? about.enum.map(write) : null;
}

// fallback returns the canonical text of the default, null if there is none.
export const fallback = (about) => (about && "default" in about ? write(about.default) : null);

// fieldType returns the type of a new field, as values.js names it.
export function fieldType(about) {
  const names = {
    integer: "number",
    string: "text",
    array: "list",
    number: "number",
    boolean: "boolean",
    null: "null",
    object: "object",
  };
  const first = fallback(about) ?? choices(about)?.[0];
  return names[typesOf(about)[0]] ?? (first === undefined ? "text" : typeOf(first));
}

// limit returns the number that a schema gives for a name such as minimum, undefined for none.
export const limit = (about, name) => (JSON.isRawJSON(about?.[name]) ? Number(about[name].rawJSON) : undefined);

// matches tries a pattern. One that might take long, for it repeats a group or has several unbounded
// repetitions, matches nothing: a hostile one must not stop the page.
function matches(pattern, name) {
  const slow = /\)[*+?{]|\\\d/.test(pattern) || (pattern.match(/[*+]|,\}/g) ?? []).length > 2;
  if (slow || pattern.length > 100 || name.length > 100) return false;
  try {
    return new RegExp(pattern, "u").test(name);
  } catch {
    return false;
  }
}

const isObject = (v) => v !== undefined && kind(v) === "object";
const own = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);
const decode = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};
