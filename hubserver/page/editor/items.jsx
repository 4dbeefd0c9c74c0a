// items.jsx shows a list of objects, such as enrichments, as cards: added, moved, removed and edited in
// place, so that nobody has to edit JSON for it.

import { useId, useRef, useState } from "preact/hooks";
import { about, field, remove, reset, schema, set, setText, targets } from "./draft.js";
import { findingOf } from "./findings.js";
import { page } from "./hub.js";
import { kind, parse, quote, write } from "./json.js";
import { shown } from "./keys.js";
import { isReference, root } from "./references.js";
import { fieldType } from "./schema.js";
import { toInput, toText } from "./values.js";
import { Control, Icon, IconButton, Reading } from "./widgets.jsx";

// isItems reports whether a key is a list of objects, by its text and by the schema. What is typed in
// cards stays in cards while it is no value.
export function isItems(key, text = "") {
  if (text === "" || text === "[]") return key === root || about(key)?.items?.type === "object";
  if (!text.startsWith("[{")) return false;
  try {
    return parse(text).every((item) => kind(item) === "object");
  } catch {
    return key === root;
  }
}

// read returns the records of a list: each a list of members {name, type, input}.
const read = (text) => (text ? parse(text) : []).map((item) =>
  Object.entries(item).map(([name, value]) => ({ name, ...toInput(write(value)) })));

// written returns the list of records as text; what is no value yet is as it was typed.
const written = (records) => `[${records.map((members) =>
  `{${members.map((m) => `${quote(m.name)}:${toText(m).text ?? m.input}`).join(",")}}`).join(",")}]`;

const isWhole = (records) => records.every((members) => members.every((m) => toText(m).text !== undefined));

// referenceOf returns what a record refers to in the API, "" for nothing.
const referenceOf = (members) => members.find((m) => isReference(m.name) && m.type === "text")?.input ?? "";

function recordsOf(key) {
  const { text } = field(key);
  return text?.startsWith("[{") ? read(text) : [];
}

// coverage says how many records there are, and of how many operations that could have one.
export function coverage(key) {
  const records = recordsOf(key);
  if (key !== root || !targets.value?.operations.length) return String(records.length);
  return `${targets.value.covered(records.map(referenceOf))} of ${targets.value.operations.length}`;
}

// useRecords keeps what is typed in each member, also while that is no value: the config then contains no
// valid list, and cannot be saved.
function useRecords(key) {
  const f = field(key);
  const [, render] = useState(0);
  const kept = useRef({});
  const text = f.text ?? f.input;
  if (kept.current.text !== text) {
    const records = isItems(key, text) && f.text !== undefined ? read(f.text) : kept.current.records ?? [];
    kept.current = { text, records };
  }
  const change = (records) => {
    const made = written(records);
    if (isWhole(records)) setText(key, write(parse(made)));
    else set(key, "list", made);
    const now = field(key);
    kept.current = { text: now.text ?? now.input, records };
    render((n) => n + 1);
  };
  return [kept.current.records, change, f];
}

// Items shows the list in the key k.
export function Items({ k }) {
  const [records, change, f] = useRecords(k);
  const [dragged, setDragged] = useState(-1);
  const [open, setOpen] = useState(-1);
  const list = useRef(null);
  const focus = (selector) => setTimeout(() => list.current?.querySelector(selector)?.focus());
  const names = [...new Set([...(schema.value?.members(k) ?? []), ...records.flatMap((r) => r.map((m) => m.name))])];
  names.sort((a, b) => isReference(b) - isReference(a));
  const move = (from, to) => {
    if (to < 0 || to >= records.length || from === to) return;
    const next = [...records];
    next.splice(to, 0, ...next.splice(from, 1));
    setOpen(open === from ? to : open === to ? from : open);
    change(next);
    focus(`li:nth-child(${to + 1}) summary`);
  };
  const drop = (i) => {
    change(records.toSpliced(i, 1));
    setOpen(-1);
    focus(`li:nth-child(${Math.max(1, i)}) summary, [data-add]`);
  };
  const add = () => {
    const name = names.find(isReference) ?? names[0] ?? "target";
    change([...records, [{ name, type: "text", input: "" }]]);
    setOpen(records.length);
    focus(`li:nth-child(${records.length + 1}) .open :is(input, textarea)`);
  };
  const wrong = f.error || (records.length === 0 ? findingOf(k, f.text) : "");
  return (
    <div ref={list} data-key={k} data-state={f.state} class="records">
      {k === root && targets.value?.operations.length > 0 && (
        <p class="help">{coverage(k)} operations of {page.api} have one.</p>
      )}
      {records.length > 0 && (
        <ol class="items">
          {records.map((members, i) => (
            <Item key={i} {...{ k, i, members, names }} count={records.length} isOpen={open === i}
              onOpen={(is) => (is || open === i) && setOpen(is ? i : -1)}
              onChange={(next) => change(records.with(i, next))} onMove={(to) => move(i, to)} onRemove={() => drop(i)}
              onDrag={() => setDragged(i)} onDrop={() => dragged >= 0 && move(dragged, i)} />
          ))}
        </ol>
      )}
      {wrong && <p class="error"><Icon name="warn" />{wrong}</p>}
      {!page.readOnly && (
        <div class="actions">
          <button type="button" class="button" data-add onClick={add}><Icon name="plus" />Add</button>
          {["changed", "added"].includes(f.state) && (
            <button type="button" class="button quiet" onClick={() => reset(k)}>Reset</button>
          )}
          {["same", "changed"].includes(f.state) && (
            <button type="button" class="button quiet" onClick={() => remove(k)}>Remove all</button>
          )}
        </div>
      )}
      {records.length === 0 && page.readOnly && <p class="help">None.</p>}
    </div>
  );
}

const label = (members) => members.find((m) => ["label", "title", "name"].includes(m.name) && m.input)?.input;

function Item({ k, i, count, members, names, isOpen, onOpen, onChange, onMove, onRemove, onDrag, onDrop }) {
  const reference = referenceOf(members);
  const target = targets.value?.find(reference);
  const name = shown(label(members) || reference || `Record ${i + 1}`);
  const absent = reference !== "" && targets.value?.lacks(reference);
  const { text } = field(k);
  const wrong = findingOf(k, text, [String(i)]) ||
    members.map((m) => toText(m).error ?? findingOf(k, text, [String(i), m.name])).find(Boolean);
  const keys = (event) => {
    if (!event.altKey || page.readOnly || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    onMove(event.key === "ArrowUp" ? i - 1 : i + 1);
  };
  return (
    <li onDragOver={(e) => e.preventDefault()} onDrop={onDrop}>
      <details open={isOpen} onToggle={(e) => e.target.open !== isOpen && onOpen(e.target.open)}>
        <summary onKeyDown={keys} aria-keyshortcuts={page.readOnly ? undefined : "Alt+ArrowUp Alt+ArrowDown"}>
          <span class="grip" draggable={!page.readOnly} onDragStart={onDrag}><Icon name="grip" /></span>
          <span>
            <b dir="auto">{name}</b>
            <span class="sub">{reference && <code>{shown(reference)}</code>}{target && ` · ${target.about}`}</span>
          </span>
          {wrong ? <span class="method bad">to mend</span> : absent ? <span class="method bad">not in the API</span>
            : target && <span class={`method ${target.method?.toLowerCase() ?? ""}`}>{target.method ?? "FIELD"}</span>}
          <span class="turn"><Icon name="chevron" /></span>
        </summary>
        {isOpen && <Members {...{ k, i, members, names, name, count, onChange, onMove, onRemove }} />}
      </details>
    </li>
  );
}

function Members({ k, i, count, members, names, name, onChange, onMove, onRemove }) {
  const all = [...names, ...members.map((m) => m.name).filter((n) => !names.includes(n))];
  const put = (member) => {
    const at = members.findIndex((m) => m.name === member.name);
    onChange(at < 0 ? [...members, member] : members.with(at, member));
  };
  return (
    <div class="open">
      {all.map((member) => (
        <Member key={member} {...{ k, i, put }} member={members.find((m) => m.name === member)} name={member}
          onRemove={() => onChange(members.filter((m) => m.name !== member))} />
      ))}
      {!page.readOnly && (
        <footer>
          <AddMember onAdd={(added) => put({ name: added, type: "text", input: "" })} taken={all} />
          <IconButton icon="up" label={`Up: ${name}`} disabled={i === 0} onClick={() => onMove(i - 1)} />
          <IconButton icon="down" label={`Down: ${name}`} disabled={i === count - 1} onClick={() => onMove(i + 1)} />
          <IconButton icon="trash" label={`Remove: ${name}`} onClick={onRemove} />
        </footer>
      )}
    </div>
  );
}

function Member({ k, i, member, name, put, onRemove }) {
  const [id, notes] = [useId(), useId()];
  const of = schema.value?.member(k, name) ?? null;
  const value = member ?? { type: fieldType(of), input: "", state: "unset" };
  const reference = isReference(name);
  const absent = reference && value.input !== "" && targets.value?.lacks(value.input);
  const wrong = member && (toText(member).error || findingOf(k, field(k).text, [String(i), name]));
  const title = typeof of?.title === "string" ? of.title : name;
  return (
    <div data-member={name}>
      <label for={id}>{shown(title) || '""'}</label>
      {page.readOnly ? (
        <span id={id} class="read">{member ? <Reading text={toText(member).text} /> : "not set"}</span>
      ) : (
        <div class="control">
          <Control value={value} about={of} label={title} id={id} list={reference ? "targets" : undefined}
            placeholder={member ? undefined : "not set"} aria-describedby={notes}
            aria-invalid={wrong ? "true" : undefined} onInput={(type, input) => put({ name, type, input })} />
          {member && <IconButton icon="close" label={`Remove ${shown(name)}`} onClick={onRemove} />}
        </div>
      )}
      <div class="notes" id={notes}>
        {wrong && <p class="error">{wrong}</p>}
        {absent && <p class="advice">{page.api} has no such operation, schema or property.</p>}
      </div>
    </div>
  );
}

function AddMember({ onAdd, taken }) {
  const [name, setName] = useState("");
  const submit = (event) => {
    event.preventDefault();
    if (name === "" || taken.includes(name)) return;
    onAdd(name);
    setName("");
  };
  return (
    <form onSubmit={submit}>
      <input type="text" aria-label="Name of a new member" placeholder="label" autocomplete="off" spellcheck={false}
        maxLength={200} value={name} onInput={(e) => setName(e.target.value)} />
      <button class="button quiet" disabled={name === "" || taken.includes(name)}>Add member</button>
    </form>
  );
}

// TargetList offers what the API has, to each reference.
export const TargetList = () => (
  <datalist id="targets">
    {targets.value?.suggestions.slice(0, 500).map((target) => (
      <option key={target.name} value={target.name}>{target.about}</option>
    ))}
  </datalist>
);
