// field.jsx is one key: as a field with what the schema says of it, or as a row of a dense list.

import { useId, useState } from "preact/hooks";
import { focusKey } from "./address.js";
import { about, field, remove, reset, schema, set, targets } from "./draft.js";
import { findingOf } from "./findings.js";
import { page } from "./hub.js";
import { firstSegment, shown } from "./keys.js";
import { isReferenceKey, referenceIn } from "./references.js";
import { flashed } from "./save.js";
import { fallback, typesOf } from "./schema.js";
import { Control, Icon, IconButton, Reading, TypeSelect } from "./widgets.jsx";
import { types } from "./values.js";

const text = (value) => (typeof value === "string" ? shown(value) : "");

// nameOf returns how people call a key: by its title, or by what its section does not say already.
export function nameOf(key) {
  const section = firstSegment(key);
  return text(about(key)?.title) || shown(section === key ? key : key.slice(section.length + 1)) || '""';
}

// Value is the control of a key, or its value where that cannot be edited.
function Value({ f, of, id, name, notes, wrong }) {
  if (page.readOnly && f.state === "unset") return <span id={id} class="help">not set</span>;
  if (page.readOnly || f.state === "removed") return <span id={id} class="read"><Reading text={f.before} /></span>;
  const list = isReferenceKey(f.key) ? "targets" : undefined;
  return (
    <Control value={f} about={of} label={name} id={id} list={list} aria-describedby={notes}
      aria-invalid={wrong ? "true" : undefined} onInput={(type, input) => set(f.key, type, input)} />
  );
}

// wrongWith returns what is wrong with a key: why it cannot be saved, or what the schema does not allow.
const wrongWith = (f) => f.error || (f.state === "removed" ? "" : findingOf(f.key, f.text));

// missing says that a reference leads nowhere in the API.
function missing(f) {
  const reference = referenceIn(f.key, f.text);
  if (reference === undefined || !targets.value?.lacks(reference)) return "";
  return `${page.api} has no such operation, schema or property.`;
}

function Notes({ f, id, wrong }) {
  const advice = wrong ? "" : missing(f);
  const input = f.type === "text" ? f.input.replace(/[\n\t]/g, "") : "";
  const byDefault = f.state === "unset" && fallback(about(f.key));
  return (
    <div class="notes" id={id}>
      {wrong && <p class="error"><Icon name="warn" />{wrong}</p>}
      {advice && <p class="advice">{advice}</p>}
      {shown(input) !== input && <p class="help">Contains characters that are not visible: <Reading text={input} /></p>}
      {f.state === "changed" && <p class="was">was <Was text={f.before} /></p>}
      {f.state === "removed" && <p class="was">will be removed</p>}
      {byDefault && <p class="was">default <Was text={byDefault} /></p>}
    </div>
  );
}

const Was = ({ text: before }) =>
  (before[0] === '"' ? <bdi>“{shown(JSON.parse(before)).slice(0, 200)}”</bdi> : <Reading text={before} />);

// act makes a change and moves the focus to the key's row as it is then.
const act = (change, key) => () => {
  change(key);
  setTimeout(() => focusKey(key));
};

function Actions({ f, required }) {
  if (page.readOnly || f.state === "unset") return null;
  const name = shown(f.key) || '""';
  const undo = { changed: "Reset", added: "Reset", removed: "Restore" }[f.state];
  return (
    <span class="act">
      {undo && <IconButton icon="undo" label={`${undo} ${name}`} onClick={act(reset, f.key)} />}
      {["same", "changed"].includes(f.state) && !required && (
        <IconButton icon="trash" label={`Remove ${name}`} onClick={act(remove, f.key)} />
      )}
    </span>
  );
}

// covers reports whether the schema has a field for the type of a value, so that nobody has to see it.
function covers(of, type) {
  const allowed = typesOf(of).map((t) => ({ string: "text", integer: "number", array: "list" })[t] ?? t);
  return allowed.length === 1 && allowed[0] === type;
}

const classes = (...names) => names.filter(Boolean).join(" ");

// Field is a key that the schema names.
export function Field({ k }) {
  const f = field(k);
  const of = about(k);
  const [id, notes] = [useId(), useId()];
  const wrong = wrongWith(f);
  const required = schema.value?.requires(k) ?? false;
  const name = nameOf(k);
  const inline = f.type === "boolean" && f.state !== "removed" && !page.readOnly;
  const help = text(of?.description);
  const present = !["unset", "removed"].includes(f.state);
  const typed = !page.readOnly && present && !covers(of, f.type) && of && !("enum" in of);
  return (
    <div class={classes("field", inline && "inline", flashed.value.has(k) && "flash")} data-key={k}
      data-state={f.state}>
      <header>
        <label class="name" for={id}>{name}</label>
        {required && <span class="req">required</span>}
        <code class="key">{shown(k)}</code>
        {typed && <TypeSelect value={f} label={`Type of ${shown(k)}`} onInput={(type, input) => set(k, type, input)} />}
      </header>
      {help && <p class="help" dir="auto">{help}</p>}
      <div class="control"><Value {...{ f, of, id, name, notes, wrong }} /></div>
      <Notes f={f} id={notes} wrong={wrong} />
      <Actions f={f} required={required} />
    </div>
  );
}

// Row is a key that no schema names. What is done with it is there once somebody is at it: there may be
// many rows.
export function Row({ k }) {
  const f = field(k);
  const [active, setActive] = useState(false);
  const [id, notes] = [useId(), useId()];
  const wrong = wrongWith(f);
  const name = shown(k) || '""';
  const there = () => active || setActive(true);
  return (
    <li class={classes("row", flashed.value.has(k) && "flash")} data-key={k} data-state={f.state} onFocusIn={there}
      onPointerEnter={there}>
      <label class="name" for={id}><code>{name}</code></label>
      <div class="control"><Value {...{ f, of: null, id, name, notes, wrong }} /></div>
      {active && !page.readOnly && f.state !== "removed"
        ? <TypeSelect value={f} label={`Type of ${name}`} onInput={(type, input) => set(k, type, input)} />
        : <span class="type">{types[f.type]}</span>}
      {(active || f.state !== "same") && <Actions f={f} />}
      {(f.state !== "same" || wrong || f.type === "text") && <Notes f={f} id={notes} wrong={wrong} />}
    </li>
  );
}
