// save.js saves the draft. What it is doing is its phase, which dialogs show:
//   idle
//   reviewing {changes, undo}: an undo has the edits that it consists of
//   saving
//   conflict {newer, conflicts, done}: done(choices) goes on; without choices nothing changes
//   held {draft}: the tab's draft was made on another revision, or by the person draft.by, and nothing is
//     edited before somebody says what to do with it

import { signal } from "@preact/signals";
import { counts, difference } from "./difference.js";
import { base, changes, dirty, edits, problems, rebase, values } from "./draft.js";
import { changesOf, undoing, writePatch } from "./edits.js";
import * as findings from "./findings.js";
import { HubError, config, page, patch, who } from "./hub.js";
import { lastSave, load, rememberSave, store } from "./kept.js";
import { shown } from "./keys.js";
import { merge, remaining, resolve } from "./merge.js";
import { say, unsay } from "./toasts.js";
import { sayWritten, way } from "./written.js";

export const idle = { name: "idle" };
export const phase = signal(idle);

// attempts is how often a save is repeated on a newer config, when others save at once.
const attempts = 4;

export const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const some = (names) => `${names.slice(0, 3).map(shown).join(", ")}${names.length > 3 ? " and more" : ""}`;
const kept = "Nothing was saved; your changes are kept in this tab.";
const unknown = "The save may have been applied all the same; your changes are kept in this tab.";

// keep stores the draft in this tab, and returns whether the browser did.
export function keep() {
  if (page.readOnly || phase.peek().name === "held") return true;
  const stored = store(page.project, { revision: base.peek().revision, edits: edits.peek() });
  if (stored) unsay("draft");
  else say("draft", "warning", "This browser does not store the draft: it is lost when the page is left.");
  return stored;
}

// restore takes up the tab's draft. One of another revision is not applied before somebody says so.
export function restore() {
  const draft = load(page.project);
  if (!draft || draft.edits.size === 0) return;
  const what = `your unsaved changes to ${plural(draft.edits.size, "key")}`;
  if (page.readOnly) {
    say("restored", "warning", `This tab keeps ${what} until you may write to the project again.`);
    return;
  }
  if (draft.revision !== base.peek().revision) {
    hold(draft);
    return;
  }
  rebase(base.peek(), draft.edits);
  say("restored", "info", `Restored ${what}.`);
}

// hold asks what to do with a draft.
export function hold(draft) {
  phase.value = { name: "held", draft };
}

// decide ends that a draft is held.
export async function decide(applies) {
  const held = phase.peek();
  phase.value = idle;
  const all = new Map([...edits.peek(), ...held.draft.edits]);
  if (applies && !(await mergeInto(base.peek(), all))) phase.value = held;
  else keep();
}

// adopt makes edits, which may have been begun on an older base, the draft. Those that are not merged are held.
export async function adopt(edited) {
  if (!(await mergeInto(base.peek(), edited))) hold({ revision: base.peek().revision, edits: edited });
}

export function discard() {
  const dropped = edits.peek();
  rebase(base.peek(), new Map());
  say("discarded", "info", `Discarded ${plural(dropped.size, "change")}.`, {
    Undo: async () => {
      if (await mergeInto(base.peek(), new Map([...dropped, ...edits.peek()]))) unsay("discarded");
    },
  });
}

// review shows what is to be saved, or leads to what cannot be.
export function review(goTo) {
  if (page.readOnly || phase.peek() !== idle || !dirty.peek()) return;
  const [wrong] = problems.peek().keys();
  if (wrong !== undefined) {
    const all = [...problems.peek().keys()];
    say("wrong", "bad", `${plural(all.length, "value")} cannot be saved yet: ${some(all)}.`);
    return goTo(wrong);
  }
  findings.check();
  phase.value = { name: "reviewing", changes: changes.peek() };
}

// undoable returns the changes of the last save of this tab, null if something was saved since.
export const undoable = () => (page.readOnly || dirty.value ? null : lastSave(page.project, base.value.revision));

// reviewUndo shows what an undo of the last save changes.
export function reviewUndo() {
  const saved = undoable();
  if (!saved || phase.peek() !== idle) return;
  const undo = undoing(saved);
  phase.value = { name: "reviewing", changes: changesOf(base.peek().values, undo), undo };
}

// agree saves what was reviewed.
export function agree(message) {
  const { undo } = phase.peek();
  if (undo) rebase(base.peek(), undo);
  return save(undo ? "Undone" : "Saved", message);
}

export const close = () => {
  phase.value = idle;
};

// save sends the edits by one PATCH. When somebody else saved in between, other keys are merged and it is
// sent again; for the same keys the choice is asked for, and what comes of it is reviewed before it is sent.
async function save(done, message) {
  const merged = [];
  phase.value = { name: "saving" };
  try {
    for (let i = 0; i < attempts; i++) {
      try {
        return await send(done, message, merged);
      } catch (error) {
        if (!(error instanceof HubError) || error.status !== 412) throw error;
      }
      const before = base.peek();
      const newer = await config();
      const { conflicts, kept: left } = merge(edits.peek(), newer.values);
      merged.push(...difference(before.values, newer.values).filter((c) => !edits.peek().has(c.key)));
      if (conflicts.length > 0) {
        phase.value = idle;
        if (await mergeInto(newer)) review();
        return;
      }
      rebase(newer, left);
      if (!dirty.peek()) return say("saved", "good", `${who(newer)} saved the same changes already.`);
    }
    say("saved", "bad", "Nothing was saved: others keep saving this config. Your changes are kept in this tab.", {
      "Try again": () => save(done, message),
    });
  } catch (error) {
    failed(error, () => save(done, message));
  } finally {
    if (phase.peek().name === "saving") phase.value = idle;
    if (again) look();
  }
}

async function send(done, message, merged) {
  const from = base.peek();
  const sent = edits.peek();
  const made = changes.peek();
  const saved = values.peek();
  const answer = await patch(writePatch(made, sent), from.revision, message);
  const left = remaining(sent, edits.peek(), from.values, saved); // typed meanwhile
  rebase({ revision: answer.revision, values: saved }, left);
  sayWritten(answer.revision);
  rememberSave(page.project, answer.revision, made);
  findings.show(answer.findings);
  const others = merged.length > 0 ? ` Merged with what others saved: ${some(merged.map((c) => c.key))}.` : "";
  unsay("saved", "live");
  say("done", "good", `${done}: ${counts(made)}.${others}`, { Undo: reviewUndo });
}

// failed says why nothing was saved; the draft stays.
function failed(error, retry) {
  if (!(error instanceof HubError)) throw error;
  keep();
  if (error.status === 401) {
    return say(
      "saved",
      "warning",
      `Your session has ended. ${kept}`,
      {},
      { href: page.signIn, text: "Sign in and return" },
    );
  }
  if (error.errors.length > 0) findings.show(error.errors);
  const again = error.status === 0 || error.status >= 500 ? { "Try again": retry } : {};
  const text = [error.message, error.hint].filter(Boolean).map(sentence).join(" ");
  say("saved", "bad", `${text} ${error.code === "" ? unknown : kept}`, again);
}

const sentence = (text) => (/[.!?]$/.test(text) ? text : `${text[0].toUpperCase()}${text.slice(1)}.`);

// mergeInto applies edits to a config, which may be newer, and asks about conflicts. Without an answer
// nothing changes, and it returns false.
async function mergeInto(newer, of = edits.peek()) {
  const { kept: left, conflicts } = merge(of, newer.values);
  let merged = left;
  if (conflicts.length > 0) {
    const choices = await new Promise((done) => {
      phase.value = { name: "conflict", newer, conflicts, done };
    });
    phase.value = idle;
    if (!choices) {
      if (newer !== base.peek()) offer(newer);
      return false;
    }
    merged = resolve(left, conflicts, choices, newer.values);
  }
  rebase(newer, merged);
  unsay("live");
  return true;
}

let again = false; // a look was asked for while there could be none
let looking = false;

// look fetches the config if it may be another one than what is shown; after a save, or another look, that
// is under way.
export async function look() {
  again = phase.peek().name === "saving" || looking;
  if (again) return;
  looking = true;
  try {
    const newer = await config();
    if (newer.revision !== base.peek().revision && phase.peek().name !== "saving") follow(newer);
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
  } finally {
    looking = false;
  }
  if (again) await look();
}

// flashed are the keys that somebody else changed just now.
export const flashed = signal(new Set());

// follow shows a newer config, or says that there is one while there are changes.
function follow(newer) {
  const made = difference(base.peek().values, newer.values);
  const what = `${who(newer)} saved through ${way(newer.via)}: ${counts(made)}.`;
  const { kept: left, conflicts } = merge(edits.peek(), newer.values); // nothing, if a save without an answer was applied
  if (left.size + conflicts.length > 0 || phase.peek() !== idle) return offer(newer, what);
  rebase(newer, new Map());
  sayWritten(newer.revision);
  unsay("done", "saved"); // that save can no longer be undone
  say("live", "info", `${what} It is shown here.`);
  flashed.value = new Set(made.map((c) => c.key));
}

// offer lets the user merge a newer config into the draft.
function offer(newer, what = `${who(newer)} saved a newer config.`) {
  if (phase.peek().name === "held") return;
  say("live", "warning", `${what} Your changes are based on the one before.`, { Merge: () => mergeInto(newer) });
}
