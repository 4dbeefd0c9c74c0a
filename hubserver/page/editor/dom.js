// dom.js makes elements. Text is always set as text: nothing here reads HTML.

// h makes an element. Properties that start with "on" are listeners, "class" and names
// with a dash are attributes, and so is everything that the element has no property for;
// undefined and false leave an attribute out.
export function h(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) set(element, key, value);
  element.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

function set(element, key, value) {
  if (value === undefined || value === false || value === null) return;
  if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
  else if (key in element && !key.includes("-") && key !== "list" && key !== "form") element[key] = value;
  else element.setAttribute(key === "className" ? "class" : key, value === true ? "" : value);
}

// button makes a button that submits nothing.
export const button = (text, onclick, properties = {}) => h("button", { type: "button", class: "button", onclick, ...properties }, text);

// number writes a count for people.
export const number = (n) => n.toLocaleString("en");

// plural writes a count with its noun.
export const plural = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

let last = 0;

// newID returns an id that no other element has.
export const newID = () => `e${++last}`;
