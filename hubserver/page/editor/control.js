// control.js makes the element in which a value is edited. It knows types and what a
// schema says, and nothing of keys or of the config around the value.

import { h } from "./dom.js";
import { unquote } from "./json.js";
import { shown } from "./keys.js";
import { choices } from "./schema.js";
import { convert, toInput, toText, types } from "./values.js";

// longest is how many characters of a value are shown where it is only read.
const longest = 2000;

// everyType is the choice of types, to be copied: a page has many.
const everyType = h("select", { class: "type" }, Object.entries(types).map(([type, name]) => h("option", { value: type }, name)));

// typeSelect makes the choice of a value's type.
export function typeSelect(value, label, onChange) {
  const select = everyType.cloneNode(true);
  select.setAttribute("aria-label", label);
  select.addEventListener("change", () => onChange(select.value, convert(value(), select.value)));
  select.value = value().type;
  return select;
}

// control makes the element for a value {type, input}. onInput is called with each type
// and input. about is what a schema says of it, or null; suggest is the id of a datalist.
export function control({ type, input }, { id, describedBy, about, suggest, onInput }) {
  const common = { id, "aria-describedby": describedBy };
  const allowed = choices(about);
  if (allowed && type !== "list") return enumeration({ type, input }, allowed, common, onInput);
  switch (type) {
    case "boolean":
      return toggle(input, common, onInput);
    case "null":
    case "object":
      return h("output", { ...common, class: "fixed" }, type === "null" ? "null" : "{}");
    case "number":
      return line(type, input, { ...common, inputMode: "decimal", class: "mono" }, onInput);
    case "list":
      return area(type, input, { ...common, class: "mono" }, onInput);
  }
  if (suggest) return line(type, input, { ...common, list: suggest }, onInput);
  return area(type, input, common, onInput);
}

function line(type, input, properties, onInput) {
  const element = h("input", { type: "text", autocomplete: "off", spellcheck: false, value: input, ...properties, oninput: () => onInput(type, element.value) });
  return element;
}

// area makes a text area that is as high as its text. A browser shows every line ending
// as \n: those of a text that has only \r\n are kept.
function area(type, input, properties, onInput) {
  const windows = /\r\n/.test(input) && !/(?<!\r)\n/.test(input);
  const element = h("textarea", {
    rows: 1, autocomplete: "off", spellcheck: false, value: input, ...properties,
    oninput: () => {
      fit();
      onInput(type, windows ? element.value.replaceAll("\n", "\r\n") : element.value);
    },
  });
  const fit = () => {
    const huge = element.value.length > longest * 10; // it would be laid out for seconds
    element.classList.toggle("huge", huge);
    element.rows = huge ? 6 : Math.min(12, element.value.split("\n").length);
  };
  fit();
  return element;
}

function toggle(input, properties, onInput) {
  const word = h("span", { "aria-hidden": "true" }, input);
  const box = h("input", {
    type: "checkbox", checked: input === "true", ...properties,
    onchange: () => {
      word.textContent = String(box.checked);
      onInput("boolean", String(box.checked));
    },
  });
  return h("span", { class: "toggle" }, box, word);
}

function enumeration(value, allowed, properties, onInput) {
  const present = toText(value).text;
  const texts = present !== undefined && !allowed.includes(present) ? [present, ...allowed] : allowed;
  const select = h("select", {
    ...properties,
    onchange: () => {
      const { type, input } = toInput(select.value);
      onInput(type, input);
    },
  }, texts.map((text) => h("option", { value: text }, label(text) + (allowed.includes(text) ? "" : " (not allowed)"))));
  select.value = present ?? "";
  return select;
}

const label = (text) => (text[0] === '"' ? shown(unquote(text)) || '""' : text);

// reading makes the element for a value that cannot be edited.
export function reading(text) {
  const whole = shown(text);
  return h("code", { class: "reading" }, whole.length > longest ? `${whole.slice(0, longest)}… (${whole.length} characters)` : whole);
}
