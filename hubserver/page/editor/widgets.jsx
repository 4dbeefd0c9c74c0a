// widgets.jsx has the elements in which a value is edited or read. They know types and what a schema
// says, and nothing of keys or of the config around the value.

import { useState } from "preact/hooks";
import { parse, pretty, write } from "./json.js";
import { shown } from "./keys.js";
import { choices, limit } from "./schema.js";
import { convert, toInput, toText, types } from "./values.js";

// longest is how many characters of a value are shown where it is only read.
const longest = 2000;

const paths = {
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM11 11l3 3",
  undo: "M3 6h7a3.5 3.5 0 0 1 0 7H7M3 6l3-3M3 6l3 3",
  trash: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5 5 13h6l.5-8.5",
  plus: "M8 3v10M3 8h10",
  grip: "M6 4v0M6 8v0M6 12v0M10 4v0M10 8v0M10 12v0",
  chevron: "M6 4l4 4-4 4",
  up: "M8 13V3M4 7l4-4 4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  warn: "M8 2l6.5 11.5h-13L8 2ZM8 6.5v3M8 11.5v0",
  close: "M4 4l8 8M12 4l-8 8",
  braces: "M6 2.5c-2 0-1.5 2-1.5 3S4 8 3 8c1 0 1.5 1.5 1.5 2.5s-.5 3 1.5 3M10 2.5c2 0 1.5 2 1.5 3S12 8 13 8c-1 0-1.5 1.5-1.5 2.5s.5 3-1.5 3",
};

export const Icon = ({ name }) => <svg viewBox="0 0 16 16" aria-hidden="true"><path d={paths[name]} /></svg>;

export const IconButton = ({ icon, label, ...rest }) => (
  <button type="button" class="button quiet icon" title={label} aria-label={label} {...rest}>
    <Icon name={icon} />
  </button>
);

// Reading is a value that cannot be edited.
export function Reading({ text }) {
  const whole = shown(text);
  const part = whole.length > longest ? `${whole.slice(0, longest)}… (${whole.length} characters)` : whole;
  return <code class="reading" dir="auto">{part}</code>;
}

// TypeSelect is the choice of a value's type.
export const TypeSelect = ({ value, label, onInput }) => (
  <select class="type" aria-label={label} value={value.type}
    onChange={(e) => onInput(e.target.value, convert(value, e.target.value))}>
    {Object.entries(types).map(([type, name]) => <option value={type}>{name}</option>)}
  </select>
);

// Control edits a value {type, input}. onInput is called with each type and input. about is what a schema
// says of it, or null; props has id, aria-describedby, aria-invalid and what else the element gets.
export function Control({ value, about, label, onInput, ...props }) {
  const allowed = choices(about);
  if (allowed && value.type !== "list") return <Choice {...{ value, allowed, label, onInput, props }} />;
  const widgets = { boolean: Switch, number: NumberField, list: JSONField, null: Fixed, object: Fixed, secret: Secret };
  const Widget = listed(value, about) ? Lines : widgets[value.type] ?? TextField;
  return <Widget key={value.type} {...{ value, about, label, onInput, props }} />;
}

const Fixed = ({ value, props }) => (
  <output id={props.id} class="fixed">{value.type === "null" ? "null" : "{}"}</output>
);

const Switch = ({ value, onInput, props }) => (
  <input {...props} type="checkbox" role="switch" class="switch" checked={value.input === "true"}
    onChange={(e) => onInput("boolean", String(e.target.checked))} />
);

// Secret is the name of a secret in the app's environment.
const Secret = ({ value, onInput, props }) => (
  <input {...props} type="text" class="mono" autocomplete="off" autocapitalize="characters" spellcheck={false}
    placeholder="STRIPE_KEY" value={value.input} onInput={(e) => onInput("secret", e.target.value)} />
);

function NumberField({ value, about, label, onInput, props }) {
  const [minimum, maximum] = [limit(about, "minimum"), limit(about, "maximum")];
  const type = (e) => onInput("number", e.target.value);
  const box = (
    <input {...props} type="text" inputMode="decimal" class="mono" autocomplete="off" value={value.input}
      onInput={type} />
  );
  if (!(minimum < maximum)) return box;
  const step = limit(about, "multipleOf") ?? (about.type === "integer" ? 1 : "any");
  return (
    <div class="range">
      <input type="range" min={minimum} max={maximum} step={step} value={value.input} onInput={type}
        aria-label={`${label}: slider`} />
      {box}
    </div>
  );
}

// A text has several lines if it may be long or has a line break, as it is when it is first shown: an
// element that is replaced while somebody types in it would lose the focus.
const isLong = (about, text) => text.length > 120 || /[\r\n]/.test(text) || limit(about, "maxLength") > 120 ||
  about?.contentMediaType !== undefined || ["markdown", "multiline", "textarea"].includes(about?.format);

function TextField({ value, about, label, onInput, props }) {
  const [long] = useState(() => isLong(about, value.input) && !props.list);
  const [plain] = useState(() => about?.format === "date" && !/^(\d{4}-\d\d-\d\d)?$/.test(value.input));
  const type = (e) => onInput("text", e.target.value);
  if (long) return <Area value={value} onInput={onInput} {...props} />;
  const given = { autocomplete: "off", spellcheck: false, dir: "auto", ...props, value: value.input, onInput: type };
  switch (about?.format) {
    case "date":
      return <input type={plain ? "text" : "date"} {...given} />;
    case "uri":
    case "url":
      return <input type="url" {...given} dir="ltr" />;
    case "color":
      return (
        <div class="colour">
          <input type="color" value={/^#[0-9a-f]{6}$/i.test(value.input) ? value.input : "#000000"} onInput={type}
            aria-label={`${label}: picker`} />
          <input type="text" {...given} />
        </div>
      );
  }
  return <input type="text" {...given} />;
}

// Area is a text area as high as its text. A browser shows every line ending as \n: those of a text that
// has only \r\n are kept.
function Area({ value: { type, input }, onInput, ...props }) {
  const windows = /\r\n/.test(input) && !/(?<!\r)\n/.test(input);
  const huge = input.length > 10 * longest; // it would be laid out for seconds
  return (
    <textarea rows={1} autocomplete="off" spellcheck={false} dir="auto" {...props}
      class={`${props.class ?? ""}${huge ? " huge" : ""}`} value={input.replace(/\r\n?/g, "\n")}
      onInput={(e) => onInput(type, windows ? e.target.value.replaceAll("\n", "\r\n") : e.target.value)} />
  );
}

// listed returns the texts of a list that a schema wants to have texts, null where one of them is no line.
function listed({ type, input }, about) {
  if (type !== "list" || about?.items?.type !== "string") return null;
  const { text = "[]" } = toText({ type, input });
  const all = parse(text);
  return all.every((line) => typeof line === "string" && /^.+$/.test(line)) ? all : null;
}

// Lines is a list of texts, one a line. An empty line is nothing but where somebody types.
function Lines({ value, about, onInput, props }) {
  const [typed, setTyped] = useState("");
  const split = (text) => text.split("\n").filter(Boolean);
  const type = (_, text) => {
    setTyped(text);
    onInput("list", pretty(split(text)));
  };
  const lines = listed(value, about);
  const input = write(split(typed)) === write(lines) ? typed : lines.join("\n");
  return <Area {...props} placeholder="One per line" value={{ input }} onInput={type} />;
}

function JSONField({ value, onInput, props }) {
  const format = () => onInput("list", pretty(parse(value.input)));
  const lines = value.input.includes("\n");
  return (
    <div class="json">
      <Area value={value} onInput={onInput} {...props} class="mono" dir="ltr" />
      {lines && toText(value).text !== undefined && (
        <button type="button" class="button quiet" onClick={format}>Format</button>
      )}
    </div>
  );
}

const named = (text) => (text[0] === '"' ? shown(JSON.parse(text)) || '""' : text);
const isColour = (text) => text[0] === '"' && CSS.supports("color", JSON.parse(text));

// Choice is one of the values that a schema allows: as swatches where they are colours, side by side where
// they are few. A value that is not allowed stays one of them.
function Choice({ value, allowed, label, onInput, props }) {
  const present = value.state === "unset" ? undefined : toText(value).text;
  const texts = present !== undefined && !allowed.includes(present) ? [present, ...allowed] : allowed;
  const name = (text) => named(text) + (allowed.includes(text) ? "" : " (not allowed)");
  const pick = (text) => {
    const { type, input } = toInput(text);
    onInput(type, input);
  };
  const colours = allowed.length <= 12 && allowed.every(isColour);
  if (!colours && texts.map(name).join("").length > 40) {
    return (
      <select {...props} value={present ?? ""} onChange={(e) => pick(e.target.value)}>
        {present === undefined && <option value="" disabled>not set</option>}
        {texts.map((text) => <option value={text}>{name(text)}</option>)}
      </select>
    );
  }
  const { id } = props;
  const first = Math.max(0, texts.indexOf(present));
  return (
    <div class={colours ? "swatches" : "segmented"} role="radiogroup" aria-label={label}
      aria-describedby={props["aria-describedby"]}>
      {texts.map((text, i) => (
        <label key={text}>
          <input type="radio" id={i === first ? id : undefined} name={id} value={text} checked={text === present}
            onChange={() => pick(text)} />
          {colours && isColour(text) && <i style={{ "--c": JSON.parse(text) }} />}
          {name(text)}
        </label>
      ))}
    </div>
  );
}
