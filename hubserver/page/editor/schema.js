// schema.js finds what the JSON Schema of a stack's settings says about a key: title,
// description, default, values and ranges. Its checks are those that are worth having
// while typing; the hub's are the ones that count.

import { joinKey, splitKey } from "./keys.js";
import { parse, write } from "./json.js";
import { typeOf } from "./values.js";

// maxSteps bounds how many references and alternatives are followed for one key.
const maxSteps = 64;

// Schema answers for a JSON Schema, given as its text.
export class Schema {
  #found = new Map();

  constructor(text) {
    this.document = plain(parse(text));
  }

  // about returns what is known of a key's value, null if nothing is.
  about(key) {
    if (!this.#found.has(key)) this.#found.set(key, this.#look(splitKey(key)));
    return this.#found.get(key);
  }

  // member returns what is known of a member of an element of the array in key.
  member(key, path) {
    return this.#look([...splitKey(key), 0, ...path]);
  }

  #look(path) {
    const steps = { left: maxSteps };
    let schemas = this.#expand(this.document, steps);
    for (const name of path) schemas = schemas.flatMap((s) => this.#below(s, name)).flatMap((s) => this.#expand(s, steps));
    return schemas.length === 0 ? null : combine(schemas);
  }

  // #expand returns a schema with those that it refers to and consists of.
  #expand(schema, steps) {
    if (!isObject(schema) || steps.left-- <= 0) return [];
    const more = Array.isArray(schema.allOf) ? schema.allOf : [];
    if (typeof schema.$ref === "string") more.push(this.#resolve(schema.$ref));
    return [schema, ...more.flatMap((s) => this.#expand(s, steps))];
  }

  #resolve(ref) {
    if (!ref.startsWith("#")) return undefined;
    let found = this.document;
    for (const part of ref.slice(1).split("/").slice(1)) {
      const name = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
      found = isObject(found) || Array.isArray(found) ? own(found, name) : undefined;
    }
    return found;
  }

  // #below returns the schemas of a member; 0 stands for any element of an array.
  #below(schema, name) {
    if (name === 0) return [schema.items];
    const exact = isObject(schema.properties) ? own(schema.properties, name) : undefined;
    if (exact !== undefined) return [exact];
    const patterns = Object.entries(isObject(schema.patternProperties) ? schema.patternProperties : {});
    const matching = patterns.filter(([pattern]) => matches(pattern, name)).map(([, s]) => s);
    return matching.length > 0 ? matching : [schema.additionalProperties];
  }

  // keys lists the keys of leaves that the schema names, at most count.
  keys(count = 1000) {
    const found = new Set();
    const walk = (schema, path, depth) => {
      if (found.size >= count || depth > 16) return;
      const parts = this.#expand(schema, { left: maxSteps });
      const members = parts.flatMap((s) => Object.entries(isObject(s.properties) ? s.properties : {}));
      if (members.length === 0) {
        const types = typesOf(combine(parts));
        if (path.length > 0 && (types.length === 0 || types.some((t) => t !== "object"))) found.add(joinKey(path));
        return;
      }
      for (const [name, s] of members) walk(s, [...path, name], depth + 1);
    };
    walk(this.document, [], 0);
    return [...found];
  }
}

// combine merges what several schemas say of one value; the first one wins, except for
// what each requires.
function combine(schemas) {
  const about = Object.create(null);
  for (const schema of schemas) {
    for (const [name, value] of Object.entries(schema)) if (!(name in about)) about[name] = value;
    if (Array.isArray(schema.enum) && about.enum !== schema.enum) about.enum = about.enum.filter((v) => schema.enum.some((w) => text(w) === text(v)));
  }
  return about;
}

// typesOf returns the JSON types that a value may have, [] if it is not limited.
export function typesOf(about) {
  const type = about?.type;
  return Array.isArray(type) ? type : typeof type === "string" ? [type] : [];
}

// choices returns the canonical texts of the values that are allowed, null if they are
// not listed.
export function choices(about) {
  if (about && "const" in about) return [text(about.const)];
  return Array.isArray(about?.enum) ? about.enum.map(text) : null;
}

// fallback returns the canonical text of the default, null if there is none.
export const fallback = (about) => (about && "default" in about ? text(about.default) : null);

// fieldType returns the type of a new field, as values.js names it.
export function fieldType(about) {
  const kind = typesOf(about)[0];
  const first = fallback(about) ?? choices(about)?.[0];
  if (kind === undefined) return first === undefined ? "text" : typeOf(first);
  return { string: "text", number: "number", integer: "number", boolean: "boolean", array: "list", null: "null", object: "object" }[kind] ?? "text";
}

// finding returns what is wrong with a canonical text, "" for nothing that is seen here.
export function finding(about, value) {
  if (!about || value === undefined || value === null) return "";
  const node = parse(value);
  const allowed = choices(about);
  if (allowed && !allowed.includes(value)) return `Must be ${list(allowed)}.`;
  const types = typesOf(about);
  if (types.length > 0 && !types.some((type) => isOf(node, type))) return `Must be ${article(types)}.`;
  if (node.kind === "number") return range(about, Number(node.text), node.text);
  if (node.kind === "string") return length(about, node.value);
  if (node.kind === "array") return count(about, node.items.length);
  return "";
}

function range(about, value) {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = numbers(about);
  if (value < minimum) return `Must be at least ${minimum}.`;
  if (value > maximum) return `Must be at most ${maximum}.`;
  if (value <= exclusiveMinimum) return `Must be more than ${exclusiveMinimum}.`;
  if (value >= exclusiveMaximum) return `Must be less than ${exclusiveMaximum}.`;
  return "";
}

function length(about, value) {
  const { minLength, maxLength } = numbers(about);
  const characters = [...value].length;
  if (characters < minLength) return `Must have at least ${minLength} characters.`;
  if (characters > maxLength) return `Must have at most ${maxLength} characters.`;
  if (typeof about.pattern === "string" && !matches(about.pattern, value)) return `Must match ${about.pattern}.`;
  return "";
}

function count(about, items) {
  const { minItems, maxItems } = numbers(about);
  if (items < minItems) return `Must have at least ${minItems} elements.`;
  if (items > maxItems) return `Must have at most ${maxItems} elements.`;
  return "";
}

// numbers returns the numeric limits of a schema; NaN, which compares to nothing, for
// those that it does not have.
const numbers = (about) => Object.fromEntries(limits.map((name) => [name, about[name] instanceof Literal ? Number(about[name].text) : NaN]));

const limits = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems"];

// hint describes the allowed values of a field in a few words, "" if there is nothing to say.
export function hint(about) {
  if (!about) return "";
  const { minimum, maximum } = numbers(about);
  if (minimum <= maximum) return `${minimum} to ${maximum}`;
  if (!Number.isNaN(minimum)) return `at least ${minimum}`;
  if (!Number.isNaN(maximum)) return `at most ${maximum}`;
  return "";
}

function isOf(node, type) {
  if (type === "integer") return node.kind === "number" && Number.isInteger(Number(node.text));
  return node.kind === type;
}

const article = (types) => types.map((t) => ({ array: "a list", integer: "a whole number", null: "null", object: "an object", boolean: "true or false", string: "text" })[t] ?? `a ${t}`).join(" or ");
const list = (texts) => (texts.length > 12 ? `one of ${texts.length} values` : texts.length === 1 ? texts[0] : `${texts.slice(0, -1).join(", ")} or ${texts.at(-1)}`);

// maxPattern bounds the patterns that are tried while typing, and the texts they are
// tried on.
const maxPattern = 100;

// slow reports whether trying a pattern might take long: a hostile one must not stop the
// page. It is one that repeats a group, or has several unbounded repetitions.
const slow = (pattern) => /\)[*+?{]|\\\d/.test(pattern) || (pattern.match(/[*+]|,\}/g) ?? []).length > 2;

function matches(pattern, value) {
  if (pattern.length > maxPattern || value.length > maxPattern || slow(pattern)) return true; // left to the hub
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v) && !(v instanceof Literal);
const own = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);
const decode = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

// Literal is a number, so that it is not rounded.
class Literal {
  constructor(text) {
    this.text = text;
  }
}

// plain converts a parsed node into objects, arrays, strings and Literals.
function plain(node) {
  switch (node.kind) {
    case "object":
      return Object.assign(Object.create(null), Object.fromEntries(node.members.map(([name, value]) => [name, plain(value)])));
    case "array":
      return node.items.map(plain);
    case "string":
      return node.value;
    case "number":
      return new Literal(node.text);
  }
  return node.text === "null" ? null : node.text === "true";
}

// text returns the canonical text of what plain returned.
function text(value) {
  if (Array.isArray(value)) return `[${value.map(text).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (value instanceof Literal) return value.text;
  return write(parse(`{${Object.entries(value).map(([name, v]) => `${JSON.stringify(name)}:${text(v)}`).join(",")}}`));
}
