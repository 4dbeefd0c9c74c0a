// values.js converts between the canonical text of a value and what a person types for it. A value is
// always kept as text, so that a number never becomes a double.

import { isNumber, kind, parse, pretty, quote, write } from "./json.js";

// types are the types of values, with the names that people see.
export const types = {
  text: "Text",
  number: "Number",
  boolean: "True/false",
  list: "List",
  null: "Null",
  object: "Empty object",
  secret: "Secret",
};

// reference is a value that names a secret: the app reads it from its environment.
const reference = /^{"\$secret":"([A-Z][A-Z0-9_]{0,127})"}$/;

// typeOf returns the type of a canonical text.
export function typeOf(text) {
  if (reference.test(text)) return "secret";
  const of = { '"': "text", "[": "list", "{": "object", t: "boolean", f: "boolean", n: "null" };
  return of[text[0]] ?? "number";
}

// toInput returns what a field shows for a canonical text.
export function toInput(text) {
  const type = typeOf(text);
  switch (type) {
    case "text":
      return { type, input: JSON.parse(text) };
    case "list":
      return { type, input: pretty(parse(text)) };
    case "null":
    case "object":
      return { type, input: "" };
    case "secret":
      return { type, input: reference.exec(text)[1] };
  }
  return { type, input: text };
}

// toText returns the canonical text of what a person typed, or why it is none.
export function toText({ type, input }) {
  switch (type) {
    case "text":
      return /\p{Surrogate}/u.test(input)
        ? { error: "The text contains half of a surrogate pair." }
        : { text: quote(input) };
    case "number":
      return number(input.trim());
    case "boolean":
      return input === "true" || input === "false" ? { text: input } : { error: "Choose true or false." };
    case "list":
      return list(input);
    case "null":
      return { text: "null" };
    case "secret":
      return secret(input.trim());
  }
  return { text: "{}" };
}

function secret(name) {
  const text = `{"$secret":"${name}"}`;
  return reference.test(text)
    ? { text }
    : { error: "Enter the name of an environment variable in capitals, such as STRIPE_KEY." };
}

function number(input) {
  if (isNumber(input)) return { text: input };
  if (input === "") return { error: "Enter a number." };
  if (/^[-+]?\d+,\d+$/.test(input)) {
    return { error: `Write the decimal point as a dot: ${input.replace(",", ".").replace("+", "")}` };
  }
  if (/^-?0\d/.test(input)) return { error: "A number has no leading zeros." };
  return { error: "Enter a number, such as 12, -0.5 or 1e6." };
}

function list(input) {
  try {
    const value = parse(input);
    if (kind(value) === "array") return { text: write(value) };
    if (kind(value) === "object") return { error: "An object has a key for each of its members: add those." };
    return { error: "A list starts with [ and ends with ]." };
  } catch (error) {
    return { error: `Not JSON: ${error.message}.` };
  }
}

// convert returns the input of a field whose type is changed: what was typed is kept where the new type
// has an input.
export function convert({ type, input }, to) {
  switch (to) {
    case type:
      return input;
    case "boolean":
      return String(input.trim() === "true");
    case "list":
      return input.trim() === "" ? "[]" : `[${toText({ type, input }).text ?? quote(input)}]`;
    case "null":
    case "object":
    case "secret": // what was typed may be the secret itself
      return "";
  }
  return input;
}
