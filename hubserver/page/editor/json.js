// json.js reads and writes JSON without loss: a number keeps its literal text, as a raw value of the
// browser, and members are written in the order of the hub's canonical form. It knows nothing of configs.
// What a browser accepts and the hub does not, such as a member that occurs twice, the hub finds.

// parse reads one JSON value.
export const parse = (text) =>
  JSON.parse(text, (name, value, { source }) => (typeof value === "number" ? JSON.rawJSON(source) : value));

// kind returns the type of a parsed value: "null", "boolean", "number", "string", "array" or "object".
export function kind(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return JSON.isRawJSON(value) ? "number" : typeof value;
}

const isScalar = (value) => !["array", "object"].includes(kind(value));

// write returns a value's canonical text.
export function write(value) {
  switch (kind(value)) {
    case "array":
      return `[${value.map(write).join(",")}]`;
    case "object":
      return `{${Object.keys(value)
        .sort(compare)
        .map((name) => `${quote(name)}:${write(value[name])}`)
        .join(",")}}`;
  }
  return JSON.stringify(value);
}

// pretty returns a value's text over several lines, for people to edit.
export function pretty(value, indent = "") {
  const deeper = `${indent}  `;
  switch (kind(value)) {
    case "array":
      if (value.every(isScalar)) return `[${value.map(write).join(", ")}]`;
      return `[\n${value.map((item) => deeper + pretty(item, deeper)).join(",\n")}\n${indent}]`;
    case "object": {
      const names = Object.keys(value).sort(compare);
      if (names.length === 0) return "{}";
      const members = names.map((name) => `${deeper}${quote(name)}: ${pretty(value[name], deeper)}`);
      return `{\n${members.join(",\n")}\n${indent}}`;
    }
  }
  return write(value);
}

// quote returns s as a canonical JSON string.
export const quote = (s) => JSON.stringify(s);

// isNumber reports whether text is one JSON number.
export const isNumber = (text) => /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text);

// compare orders strings by their UTF-8 bytes. JavaScript's own order differs between surrogate pairs
// and the characters from U+E000.
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
