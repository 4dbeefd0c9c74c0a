// values.js converts between the canonical text of a value and what a person types for
// it. The types are those that a field can have; a value is always kept as text, so that
// a number never becomes a double.

import { JSONError, isNumber, parse, pretty, quote, unquote, write } from "./json.js";

// types are the types of values, with the names that people see.
export const types = { text: "Text", number: "Number", boolean: "True/false", list: "List", null: "Null", object: "Empty object" };

// typeOf returns the type of a canonical text.
export function typeOf(text) {
  switch (text[0]) {
    case '"':
      return "text";
    case "[":
      return "list";
    case "{":
      return "object";
    case "t":
    case "f":
      return "boolean";
    case "n":
      return "null";
  }
  return "number";
}

// toInput returns what a field shows for a canonical text.
export function toInput(text) {
  const type = typeOf(text);
  switch (type) {
    case "text":
      return { type, input: unquote(text) };
    case "list":
      return { type, input: pretty(parse(text)) };
    case "null":
    case "object":
      return { type, input: "" };
  }
  return { type, input: text };
}

// toText returns the canonical text of what a person typed, or why it is none.
export function toText({ type, input }) {
  switch (type) {
    case "text":
      if (/\p{Surrogate}/u.test(input)) return { error: "The text contains half of a surrogate pair." };
      return { text: quote(input) };
    case "number":
      return number(input.trim());
    case "boolean":
      return input === "true" || input === "false" ? { text: input } : { error: "Choose true or false." };
    case "list":
      return list(input);
    case "null":
      return { text: "null" };
    case "object":
      return { text: "{}" };
  }
  return { error: "Choose a type." };
}

function number(input) {
  if (isNumber(input)) return { text: input };
  if (input === "") return { error: "Enter a number." };
  if (/^[-+]?\d+,\d+$/.test(input)) return { error: `Write the decimal point as a dot: ${input.replace(",", ".").replace("+", "")}` };
  if (/^-?0\d/.test(input)) return { error: "A number has no leading zeros." };
  return { error: "Enter a number, such as 12, -0.5 or 1e6." };
}

function list(input) {
  let node;
  try {
    node = parse(input);
  } catch (error) {
    if (!(error instanceof JSONError)) throw error;
    return { error: `Not JSON: ${error.message}.` };
  }
  if (node.kind === "array") return { text: write(node) };
  if (node.kind === "object") return { error: "An object has a key for each of its members: add those." };
  return { error: "A list starts with [ and ends with ]." };
}

// convert returns the input of a field whose type is changed: what was typed is kept
// where the new type has an input.
export function convert({ type, input }, to) {
  if (type === to) return input;
  switch (to) {
    case "boolean":
      return input.trim() === "true" ? "true" : "false";
    case "list":
      return input.trim() === "" ? "[]" : `[${toText({ type, input }).text ?? quote(input)}]`;
    case "null":
    case "object":
      return "";
  }
  return input;
}
