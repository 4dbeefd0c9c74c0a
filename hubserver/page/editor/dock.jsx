// dock.jsx is the bar that floats at the bottom of the window while there are changes, and what happened,
// which rises above it.

import { useEffect, useState } from "preact/hooks";
import { base, dirty, edits, problems } from "./draft.js";
import { nameOf } from "./field.jsx";
import { present } from "./findings.js";
import { page, who } from "./hub.js";
import { decide, discard, phase, plural } from "./save.js";
import { changedOnly } from "./sections.jsx";
import { share } from "./share.js";
import { toasts, unsay } from "./toasts.js";
import { Icon, IconButton } from "./widgets.jsx";

// staying is how long a message is shown that nobody has to answer, in milliseconds.
const staying = 6_000;

// Toast leaves by itself unless somebody is at it, or has to do something.
function Toast({ kind, look, text, actions = {}, link }) {
  const [held, setHeld] = useState(false);
  const passing = ["info", "good"].includes(look);
  useEffect(() => {
    if (!passing || held) return undefined;
    const timer = setTimeout(() => unsay(kind), staying);
    return () => clearTimeout(timer);
  }, [held, text]);
  const [hold, release] = [() => setHeld(true), () => setHeld(false)];
  return (
    <div class={`notice ${look}`} onPointerEnter={hold} onPointerLeave={release} onFocusIn={hold} onFocusOut={release}>
      <p>{text}</p>
      <div class="actions">
        {link && <a class="button primary" href={link.href}>{link.text}</a>}
        {Object.entries(actions).map(([name, act]) => (
          <button key={name} type="button" class="button" onClick={act}>{name}</button>
        ))}
        {kind !== "held" && <IconButton icon="close" label="Dismiss" onClick={() => unsay(kind)} />}
      </div>
    </div>
  );
}

// Held asks what to do with a draft that was made on another revision, or by somebody else.
function Held({ draft }) {
  const keys = plural(draft.edits.size, "key");
  const own = `This tab has unsaved changes to ${keys}, made before ${who(base.value)} saved a newer config.`;
  const text = draft.by ? `${who(draft)} shared changes to ${keys} with you.` : own;
  const actions = { "Apply them here": () => decide(true), "Discard them": () => decide(false) };
  return <Toast kind="held" look="warning" text={text} actions={actions} />;
}

const shortcut = /Mac|iP/.test(navigator.platform) ? "⌘S" : "Ctrl S";

function Bar({ onReview }) {
  const keys = [...edits.value.keys()];
  const wrong = new Set([...problems.value.keys(), ...present.value.map((f) => f.key)]).size;
  const saving = phase.value.name === "saving";
  const only = changedOnly.value;
  return (
    <div class="dock" role="region" aria-label="Unsaved changes">
      <button type="button" class="only" aria-pressed={only}
        title={only ? "Show all keys" : "Show only what is changed"} onClick={() => { changedOnly.value = !only; }}>
        <span class="n">{keys.length}</span> {keys.length === 1 ? "change" : "changes"}
      </button>
      <span class="what">{keys.slice(0, 5).map(nameOf).join(", ")}</span>
      <span role="status">{wrong > 0 && <span class="badge bad"><Icon name="warn" />{wrong} to mend</span>}</span>
      <button type="button" class="button quiet" disabled={saving} onClick={discard}>Discard</button>
      <button type="button" class="button quiet" disabled={saving} onClick={share}>Share</button>
      <button type="button" class="button primary" disabled={saving} aria-keyshortcuts="Control+S Meta+S"
        onClick={onReview}>
        {saving ? "Saving…" : <>Review <kbd aria-hidden="true">{shortcut}</kbd></>}
      </button>
    </div>
  );
}

// Dock is both. Screen readers announce messages and counts.
export const Dock = ({ onReview }) => (
  <div class="docked">
    <div class="toasts" role="status" aria-live="polite">
      {phase.value.name === "held" && <Held draft={phase.value.draft} />}
      {toasts.value.map((toast) => <Toast key={toast.kind} {...toast} />)}
    </div>
    {!page.readOnly && dirty.value && <Bar onReview={onReview} />}
  </div>
);
