// share.js shares the changes of this tab by a link. People with a role on the account can open it for a
// week; what they see is a draft that they may take up.

import { base, changes, edits } from "./draft.js";
import { quote } from "./json.js";
import { readObject, writePatch } from "./edits.js";
import * as hub from "./hub.js";
import { hold, phase } from "./save.js";
import { say } from "./toasts.js";
import { toInput } from "./values.js";

const prefix = "#draft=";

// share stores the changes at the hub, and copies the link.
export async function share() {
  try {
    const body = `{"base":${quote(base.peek().revision)},${writePatch(changes.peek(), edits.peek()).slice(1)}`;
    const link = `${location.origin}${location.pathname}${prefix}${await hub.shareDraft(body)}`;
    const who = "People with a role on this account can open it for 7 days";
    try {
      await navigator.clipboard.writeText(link);
      say("shared", "good", `Copied a link to these changes. ${who}.`);
    } catch {
      say("shared", "warning", `${who}: ${link}`); // stays until it is dismissed
    }
  } catch (error) {
    if (!(error instanceof hub.HubError)) throw error;
    say("shared", "bad", `Nothing was shared: ${error.message}`);
  }
}

// takeUp offers the changes that the page's address names, if it does.
export async function takeUp() {
  if (!location.hash.startsWith(prefix) || hub.page.readOnly || phase.peek().name === "held") return;
  const id = location.hash.slice(prefix.length);
  history.replaceState(null, "", location.pathname + location.search); // a reload does not ask again
  try {
    const draft = await hub.sharedDraft(id);
    const former = draft.base === base.peek().revision ? base.peek() : await hub.config(draft.base).catch(base.peek);
    const before = (key) => former.values.get(key) ?? null;
    const set = [...readObject(draft.set ?? {})].map(([key, text]) => [key, { ...toInput(text), text, base: before(key) }]);
    const removed = (draft.remove ?? []).map((key) => [key, { removed: true, base: before(key) }]);
    hold({ edits: new Map([...set, ...removed]), by: draft.createdBy });
  } catch (error) {
    if (!(error instanceof hub.HubError)) throw error;
    say("shared", "bad", `The shared changes cannot be shown: ${error.message}`);
  }
}
