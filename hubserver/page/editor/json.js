// json.js reads and writes JSON without loss: a number keeps its literal text, members
// are in the order of the hub's canonical form, and what the hub refuses (duplicate
// members, lone surrogates) is refused here too. It knows nothing of configs.

// maxDepth bounds the recursion of parse; the hub's own limit is lower.
const maxDepth = 1000;

// JSONError says what is wrong with a text, and where.
export class JSONError extends Error {
  constructor(message, at) {
    super(message);
    this.at = at;
  }
}

// parse reads exactly one JSON value. A node is {kind, text} for a scalar, {kind: "array",
// items} or {kind: "object", members: [[name, node], …]}; text is canonical.
export function parse(text) {
  const reader = new Reader(text);
  const node = reader.value(0);
  reader.space();
  if (reader.at < text.length) reader.fail("unexpected text after the value");
  return node;
}

// write returns a node's canonical text.
export function write(node) {
  switch (node.kind) {
    case "array":
      return `[${node.items.map(write).join(",")}]`;
    case "object":
      return `{${node.members.map(([name, value]) => `${quote(name)}:${write(value)}`).join(",")}}`;
  }
  return node.text;
}

// pretty returns a node's text over several lines, for people to edit.
export function pretty(node, indent = "") {
  const deeper = indent + "  ";
  switch (node.kind) {
    case "array":
      if (node.items.every(isScalar)) return `[${node.items.map(write).join(", ")}]`;
      return `[\n${node.items.map((item) => deeper + pretty(item, deeper)).join(",\n")}\n${indent}]`;
    case "object":
      if (node.members.length === 0) return "{}";
      return `{\n${node.members.map(([name, value]) => `${deeper}${quote(name)}: ${pretty(value, deeper)}`).join(",\n")}\n${indent}}`;
  }
  return node.text;
}

// isScalar reports whether a node is neither an array nor an object.
export const isScalar = (node) => node.kind !== "array" && node.kind !== "object";

// quote returns s as a canonical JSON string.
export const quote = (s) => JSON.stringify(s);

// unquote returns the string that a canonical text stands for.
export const unquote = (text) => JSON.parse(text);

// compare orders strings by their UTF-8 bytes. JavaScript's own order differs between
// surrogate pairs and the characters from U+E000.
export function compare(a, b) {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return byteRank(x) - byteRank(y);
  }
  return a.length - b.length;
}

const byteRank = (unit) => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

const isSpace = (c) => c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09;

// Reader is a recursive-descent parser over a text.
class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  fail(message, at = this.at) {
    const before = this.text.slice(0, at);
    const line = before.split("\n").length;
    throw new JSONError(`line ${line}, column ${at - before.lastIndexOf("\n")}: ${message}`, at);
  }

  space() {
    while (isSpace(this.text.charCodeAt(this.at))) this.at++;
  }

  value(depth) {
    if (depth > maxDepth) this.fail("nested too deeply");
    this.space();
    const c = this.text[this.at];
    switch (c) {
      case "{":
        return this.object(depth);
      case "[":
        return this.array(depth);
      case '"': {
        const value = this.string();
        return { kind: "string", text: quote(value), value };
      }
      case "t":
        return this.word("true");
      case "f":
        return this.word("false");
      case "n":
        return this.word("null");
    }
    return this.number();
  }

  word(word) {
    if (!this.text.startsWith(word, this.at)) this.fail(`expected ${word}`);
    this.at += word.length;
    return { kind: word === "null" ? "null" : "boolean", text: word };
  }

  number() {
    numberAt.lastIndex = this.at;
    const found = numberAt.exec(this.text);
    if (!found) this.fail(this.at < this.text.length ? "expected a value" : "the text ends too early");
    this.at += found[0].length;
    return { kind: "number", text: found[0] };
  }

  string() {
    const start = this.at;
    let escaped = false;
    for (let i = start + 1; ; i++) {
      const c = this.text.charCodeAt(i);
      if (c === 0x22) {
        this.at = i + 1;
        break;
      }
      if (c === 0x5c) {
        escaped = true;
        i++;
      } else if (!(c >= 0x20)) {
        this.fail(i < this.text.length ? "a control character in a string has to be escaped" : "a string is not closed", i);
      }
    }
    let value = this.text.slice(start + 1, this.at - 1);
    if (escaped) {
      try {
        value = JSON.parse(this.text.slice(start, this.at));
      } catch {
        this.fail("an invalid escape in a string", start);
      }
    }
    if (loneSurrogate.test(value)) this.fail("half of a surrogate pair in a string", start);
    return value;
  }

  array(depth) {
    const items = [];
    this.at++;
    for (this.space(); this.text[this.at] !== "]"; this.space()) {
      if (items.length > 0) this.comma("]");
      items.push(this.value(depth + 1));
    }
    this.at++;
    return { kind: "array", items };
  }

  object(depth) {
    const members = new Map();
    this.at++;
    for (this.space(); this.text[this.at] !== "}"; this.space()) {
      if (members.size > 0) this.comma("}");
      this.space();
      const start = this.at;
      if (this.text[this.at] !== '"') this.fail("expected a member's name in double quotes");
      const name = this.string();
      if (members.has(name)) this.fail(`the member ${quote(name)} occurs twice`, start);
      this.space();
      if (this.text[this.at] !== ":") this.fail("expected : after a member's name");
      this.at++;
      members.set(name, this.value(depth + 1));
    }
    this.at++;
    return { kind: "object", members: [...members].sort(([a], [b]) => compare(a, b)) };
  }

  comma(end) {
    if (this.text[this.at] !== ",") this.fail(this.at < this.text.length ? `expected , or ${end}` : "the text ends too early");
    this.at++;
  }
}

// isNumber reports whether text is one JSON number.
export const isNumber = (text) => wholeNumber.test(text);

const wholeNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const numberAt = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const loneSurrogate = /\p{Surrogate}/u;
