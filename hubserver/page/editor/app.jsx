// app.jsx turns the Config tab into an editor: it connects the draft, the sections, the dialogs, the hub's
// events and the address. Without JavaScript the page shows the config alone.

import { effect } from "@preact/signals";
import { render } from "preact";
import { focusKey, follow, nearest } from "./address.js";
import { base, dirty, edits, problems, rebase, schema, targets, values } from "./draft.js";
import { Dialogs, adding, rewriting } from "./dialogs.jsx";
import { Dock } from "./dock.jsx";
import { writeConfig } from "./edits.js";
import * as findings from "./findings.js";
import * as hub from "./hub.js";
import { TargetList } from "./items.jsx";
import { publish } from "./kept.js";
import { shown } from "./keys.js";
import { warn } from "./leave.js";
import { Toggle, startPane } from "./pane.jsx";
import { present } from "./presence.js";
import { Targets } from "./references.js";
import * as save from "./save.js";
import { Schema } from "./schema.js";
import { Navigation, Sections, changedOnly, found, listed, query, showAll, total } from "./sections.jsx";
import { takeUp } from "./share.js";
import { listen } from "./stream.js";
import { say, unsay } from "./toasts.js";
import { Icon } from "./widgets.jsx";

const { page } = hub;
const root = document.getElementById("editor");

// reveal moves the focus to a key, whatever is shown.
function reveal(key) {
  showAll(key);
  setTimeout(() => {
    document.querySelector(`#editor [data-key="${CSS.escape(key)}"]`)?.scrollIntoView({ block: "center" });
    focusKey(key);
  });
}

// goTo moves the focus to a key of an address, or says that there is none.
function goTo(key) {
  if (save.phase.peek().name === "held") return;
  unsay("address");
  const filtered = found.peek() !== null;
  const there = nearest(key, listed.peek());
  if (there === undefined) {
    const actions = page.readOnly ? {} : { "Add it": () => { adding.value = key; } };
    say("address", "bad", `The config has no key ${shown(key)}. It was removed, or never set.`, actions);
    return;
  }
  reveal(there);
  const said = [
    key.startsWith(`${there}.`) && `${shown(key)} is a part of the value of ${shown(there)}.`,
    filtered && `The filter was cleared to show ${shown(there)}.`,
  ].filter(Boolean);
  if (said.length > 0) say("address", "info", said.join(" "));
}

const review = () => save.review(reveal);

function Tools() {
  const { value: only } = found;
  const undoable = save.undoable();
  return (
    <div class="tools" role="search" aria-label="Keys">
      <div class="find">
        <Icon name="search" />
        <input type="search" aria-label="Filter keys and values" maxLength={200}
          placeholder={`Filter ${save.plural(total.value, "key")}`} autocomplete="off" spellcheck={false}
          aria-keyshortcuts="/" value={query.value} onInput={(e) => { query.value = e.target.value; }} />
        <kbd aria-hidden="true">/</kbd>
      </div>
      <p class="unseen" role="status">{only && `${only.size.toLocaleString("en")} of ${save.plural(total.value, "key")}`}</p>
      {undoable && (
        <button type="button" class="button quiet" onClick={save.reviewUndo}>
          <Icon name="undo" /><span>Undo last save</span>
        </button>
      )}
      {!page.readOnly && (
        <>
          <button type="button" class="button quiet" title="Edit as JSON" onClick={() => { rewriting.value = true; }}>
            <Icon name="braces" /><span>JSON</span>
          </button>
          <button type="button" class="button" onClick={() => { adding.value = ""; }}>
            <Icon name="plus" /><span>Add key</span>
          </button>
        </>
      )}
      <Toggle />
    </div>
  );
}

function App() {
  const held = save.phase.value.name === "held";
  return (
    <>
      <div class="side" inert={held}><Navigation /></div>
      <div class="form" inert={held}>
        <Tools />
        <Sections />
      </div>
      <TargetList />
      <Dock onReview={review} />
      <Dialogs onAdded={reveal} />
    </>
  );
}

// keys handles the keys that work everywhere: / filters, Ctrl+S reviews.
function keys(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s" && !page.readOnly) {
    event.preventDefault();
    return document.querySelector("dialog[open]") ? undefined : review();
  }
  const typing = event.target.closest("input, textarea, select, dialog");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing) return undefined;
  event.preventDefault();
  return root.querySelector("[type=search]").focus();
}

// whole reads what a stack or an API says; null where there is nothing, or what cannot be read.
function whole(read, text) {
  try {
    return text && read(text);
  } catch {
    return null;
  }
}

// follow what is edited: it is published at once, kept in the tab a moment later, and what is no longer
// true is no longer said.
function watch() {
  let timer;
  effect(() => {
    const [revision, changed, all] = [base.value.revision, dirty.value, () => values.peek()];
    edits.value;
    publish(page.project, () => ({ revision, dirty: changed, config: writeConfig(all()) }));
    if (changed) unsay("done");
    clearTimeout(timer);
    timer = setTimeout(save.keep, 100);
  });
  effect(() => {
    if (problems.value.size === 0) unsay("wrong");
    if (!dirty.value) changedOnly.value = false;
  });
  findings.watch();
}

async function start() {
  const [config, text] = await Promise.all([hub.config(), hub.settingsSchema()]);
  schema.value = whole((t) => new Schema(t), text);
  rebase(config, new Map());
  save.restore();
  root.replaceChildren();
  root.parentElement.classList.add("bench");
  startPane();
  render(<App />, root);
  watch();
  present(hub.path);
  listen(hub.path, (event, data) => {
    if (event === "config" && data.revision !== base.peek().revision) save.look();
    if (event === "open") unsay("away");
    if (event === "closed")
      say("away", "warning", "What others save is not shown now: the hub cannot be reached, or does not send it.");
  });
  addEventListener("keydown", keys);
  warn();
  root.dataset.ready = "true";
  performance.mark("editor ready");
  follow(page.project, goTo);
  takeUp();
  targets.value = whole((known) => new Targets(known), await hub.targets());
}

start().catch((error) => {
  if (!(error instanceof hub.HubError)) throw error;
  const notice = Object.assign(document.createElement("p"), { className: "notice bad", role: "alert" });
  notice.textContent = `The editor did not start: ${error.message}`;
  root.prepend(notice);
});
