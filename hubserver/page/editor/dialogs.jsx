// dialogs.jsx asks: whether to save what was changed, which side of a conflict to keep, for a new key, and for
// all keys as JSON.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { counts, elements, sign } from "./difference.js";
import { about, add, base, editsOf, unset, values } from "./draft.js";
import { readSettings, writeSettings } from "./edits.js";
import { blocked, present } from "./findings.js";
import { who } from "./hub.js";
import { shown } from "./keys.js";
import { Generated } from "./pane.jsx";
import { adopt, agree, close, phase } from "./save.js";
import { fallback, fieldType } from "./schema.js";
import { toInput, toText, types, convert } from "./values.js";
import { Control, Icon, Reading } from "./widgets.jsx";

// Ask is a dialog. onClose is called once it is closed, with what close was called with; undefined after
// Escape. The browser gives the focus back to what had it.
function Ask({ title, onClose, buttons, children, onSubmit }) {
  const dialog = useRef(null);
  const answer = useRef();
  const id = useId();
  useLayoutEffect(() => {
    dialog.current.showModal();
  }, []);
  const end = (value) => {
    answer.current = value;
    dialog.current.close();
  };
  const submit = (event) => {
    event.preventDefault();
    onSubmit?.(end);
  };
  return (
    <dialog ref={dialog} class="ask" aria-labelledby={id} onClose={() => onClose(answer.current)}>
      <form onSubmit={submit}>
        <div class="head"><h2 id={id}>{title}</h2></div>
        <div class="body" tabIndex={0} role="group" aria-labelledby={id}>{children}</div>
        <div class="foot">{buttons(end)}</div>
      </form>
    </dialog>
  );
}

const Button = (props) => <button type="button" class="button" {...props} />;

// Changes shows a difference key by key, in the words of tool push.
const Changes = ({ changes }) => <ul class="diff">{changes.map((c) => <Change key={c.key} change={c} />)}</ul>;

function Change({ change: { kind, key, from, to } }) {
  const parts = kind === "changed" ? elements(from, to) : undefined;
  return (
    <li class={kind}>
      <div>
        <span class="unseen">{kind}: </span><strong>{shown(key) || '""'}</strong>{": "}
        {parts ? `elements: ${counts(parts)}` : <Values kind={kind} from={from} to={to} />}
        {parts && <ul class="elements">{parts.map((e) => <li>{sign(e.kind)} [{e.index}] <Values {...e} /></li>)}</ul>}
      </div>
    </li>
  );
}

function Values({ kind, from, to }) {
  if (kind !== "changed") return <Reading text={to ?? from} />;
  return <><del><Reading text={from} /></del>{" → "}<ins><Reading text={to} /></ins></>;
}

// Review shows what is about to be saved. It offers no Save where the hub would refuse it.
function Review({ changes, undo }) {
  const [message, setMessage] = useState("");
  const refused = undo ? "" : blocked.value;
  const found = undo ? [] : present.value;
  const save = (end) => refused === "" && end({ message: message.trim() });
  return (
    <Ask title={undo ? "Undo the last save" : "Review and save"} onSubmit={save}
      onClose={(saves) => (saves ? agree(saves.message) : close())}
      buttons={(end) => (
        <>
          <Button onClick={() => end()}>Keep editing</Button>
          {refused === "" && <button class="button primary" autofocus>{undo ? "Undo the save" : "Save"}</button>}
        </>
      )}>
      <p class="summary">{counts(changes)}</p>
      {(refused !== "" || found.length > 0) && (
        <div class={`notice ${refused ? "bad" : "warning"}`} role="status">
          <p>{refused || "Check this before you save:"}</p>
          <ul class="found">
            {found.map(({ key, path, sentence }) => (
              <li key={key + path}><code>{shown([key, ...path].join("."))}</code> {sentence}</li>
            ))}
          </ul>
        </div>
      )}
      <Changes changes={changes} />
      {!undo && <Generated />}
      <label class="message">
        <span class="unseen">Message</span>
        <input type="text" dir="auto" maxLength={1000} placeholder="Describe this change (optional)" value={message}
          onInput={(e) => setMessage(e.target.value)} />
      </label>
    </Ask>
  );
}

// Conflict shows the three values of each key that both sides changed, and asks which one to keep.
function Conflict({ newer, conflicts, done }) {
  const [choices, setChoices] = useState(new Map());
  const [missing, setMissing] = useState(false);
  const name = who(newer);
  const pick = (keys, side) => setChoices((before) => new Map([...before, ...keys.map((key) => [key, side])]));
  const all = (side) => pick(conflicts.map((c) => c.key), side);
  const apply = (end) => (choices.size === conflicts.length ? end(choices) : setMissing(true));
  return (
    <Ask title="Changed on both sides" onSubmit={apply} onClose={done}
      buttons={(end) => (
        <>
          <Button onClick={() => end()}>Decide later</Button>
          <button class="button primary">Use the chosen values</button>
        </>
      )}>
      <p>
        {name} saved {conflicts.length === 1 ? "a key" : `${conflicts.length} keys`} that you changed too.
        Nothing is lost until you choose; other keys are merged.
      </p>
      {conflicts.length > 1 && (
        <div class="actions">
          <Button onClick={() => all("mine")}>All mine</Button>
          <Button onClick={() => all("theirs")}>All theirs</Button>
        </div>
      )}
      {conflicts.map((c) => (
        <Sides key={c.key} conflict={c} name={name} choice={choices.get(c.key)}
          onPick={(side) => pick([c.key], side)} />
      ))}
      {missing && <p class="error" role="alert">Choose a value for each key.</p>}
    </Ask>
  );
}

function Sides({ conflict: { key, base, theirs, mine, edit, blocks }, name, choice, onPick }) {
  const id = useId();
  const none = <em>{base === null ? "absent" : "removed"}</em>;
  const value = (text) => (text === null ? none : <Reading text={text ?? edit.input} />);
  const side = (which, label, text) => (
    <label class="choice">
      <input type="radio" name={id} value={which} checked={choice === which} onChange={() => onPick(which)} />
      <span>{label} {value(text)}</span>
    </label>
  );
  return (
    <fieldset class="conflict">
      <legend><code>{shown(key) || '""'}</code></legend>
      <p class="was">base {base === null ? <em>absent</em> : <Reading text={base} />}</p>
      {side("theirs", `Theirs (${name})`, theirs)}
      {side("mine", "Yours", mine)}
      {blocks !== undefined && (
        <p class="help">
          {name} added <code>{shown(blocks)}</code>, which cannot exist together with this key:
          keeping yours removes it.
        </p>
      )}
    </fieldset>
  );
}

// adding is what a new key begins with, null while nothing is added.
export const adding = signal(null);

// Adding asks for a new key. Type and default come from the schema until something is typed.
function Adding({ prefix, onAdded }) {
  const [key, setKey] = useState(prefix);
  const [typed, setTyped] = useState(null);
  const [problem, setProblem] = useState("");
  const [id, names] = [useId(), useId()];
  const of = about(key);
  const byDefault = fallback(of);
  const value = typed ?? (byDefault !== null ? toInput(byDefault) : { type: fieldType(of), input: "" });
  const submit = (end) => {
    const wrong = toText(value).error ?? add(key, value.type, value.input);
    setProblem(wrong);
    if (wrong === "") end(key);
  };
  return (
    <Ask title="Add a key" onSubmit={submit} onClose={(added) => {
      adding.value = null;
      if (added !== undefined) onAdded(added);
    }}
      buttons={(end) => (
        <>
          <Button onClick={() => end()}>Cancel</Button>
          <button class="button primary">Add</button>
        </>
      )}>
      <div class="stack">
        <label for={`${id}-key`}>Key</label>
        <input id={`${id}-key`} type="text" class="mono" placeholder="theme.colour" list={names} maxLength={1000}
          autocomplete="off" spellcheck={false} autofocus aria-describedby={`${id}-help`}
          aria-invalid={problem ? "true" : undefined} value={key} onInput={(e) => setKey(e.target.value)} />
        <datalist id={names}>{unset.value.slice(0, 500).map((k) => <option value={k} />)}</datalist>
        <p class="help" id={`${id}-help`}>Names are joined by dots. Write <code>\.</code> for a dot inside a name.</p>
      </div>
      <div class="stack">
        <label for={`${id}-type`}>Type</label>
        <select id={`${id}-type`} value={value.type}
          onChange={(e) => setTyped({ type: e.target.value, input: convert(value, e.target.value) })}>
          {Object.entries(types).map(([type, name]) => <option value={type}>{name}</option>)}
        </select>
      </div>
      <div class="stack control">
        <label for={`${id}-value`}>Value</label>
        <Control value={value} about={of} label="Value" id={`${id}-value`}
          onInput={(type, input) => setTyped({ type, input })} />
      </div>
      {problem && <p class="error" role="alert"><Icon name="warn" />{problem}</p>}
    </Ask>
  );
}

// rewriting is whether the whole config is edited as JSON.
export const rewriting = signal(false);

// Rewriting edits all keys at once. What others save meanwhile stays; for the same keys, the choice is asked for.
function Rewriting() {
  const [{ values: at }] = useState(() => base.peek());
  const [written] = useState(() => writeSettings(values.peek()));
  const area = useRef(null);
  const [problem, setProblem] = useState("");
  const id = useId();
  const submit = (end) => {
    try {
      end(editsOf(readSettings(written), readSettings(area.current.value), at));
    } catch (error) {
      setProblem(error.message);
    }
  };
  return (
    <Ask title="Edit as JSON" onSubmit={submit} onClose={(edits) => {
      rewriting.value = false;
      if (edits) adopt(edits);
    }}
      buttons={(end) => (
        <>
          <Button onClick={() => end()}>Cancel</Button>
          <button class="button primary">Apply</button>
        </>
      )}>
      <p class="help" id={id}>All settings, as client.json has them. A key that you remove here is removed. Nothing is
        saved before you review it.</p>
      <textarea ref={area} class="mono whole" dir="ltr" rows={16} aria-label="Settings" aria-describedby={id}
        spellcheck={false} autocomplete="off" autofocus aria-invalid={problem ? "true" : undefined}
        defaultValue={written} />
      {problem && <p class="error" role="alert"><Icon name="warn" />{problem}</p>}
    </Ask>
  );
}

// Dialogs shows those that are asked for: a save that goes on may ask above what is being typed.
export function Dialogs({ onAdded }) {
  const { name, ...of } = phase.value;
  return (
    <>
      {rewriting.value && <Rewriting />}
      {adding.value !== null && <Adding prefix={adding.value} onAdded={onAdded} />}
      {name === "reviewing" && <Review {...of} />}
      {name === "conflict" && <Conflict {...of} />}
    </>
  );
}
