// Shows a local project: it hands what tool reads from the working tree to the frame, and
// shows what the frame says.

import { readChanges } from "./changes.js";
import { Host } from "./preview/host.js";
import * as view from "./preview/view.js";

const root = document.getElementById("preview");
const part = (name) => root.querySelector(`[data-part="${name}"]`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let host = null;
let stack = {};
let unread = null; // why the working tree cannot be shown

function receive(message) {
  switch (message.type) {
    case "failed":
      stale(true);
      view.failure(part("failure"), message);
      break;
    case "generated":
      notes(message.notes);
      view.menu(part("previews"), message.previews);
      break;
    case "painted":
      if (unread) break;
      stale(false);
      view.failure(part("failure"), null);
      root.dataset.state = "painted";
      break;
    case "left":
      view.failure(part("failure"), { kind: "app", message: `The app links to ${message.address}, which the preview does not follow.` });
  }
}

const stale = (is) => part("place").classList.toggle("stale", is);

function notes(all) {
  const list = part("notes");
  list.hidden = all.length === 0;
  list.replaceChildren(...all.map((note) => view.element("li", { class: note.level }, (note.at ? note.at + ": " : "") + note.text)));
}

// take shows what changed in the working tree.
function take(changes, packages) {
  const wasUnread = unread;
  unread = changes.failed ?? null;
  if (changes.stack) stack = changes.stack;
  if (changes.tree) view.facts(part("facts"), { stack, revision: changes.revision, draft: false, tree: changes.tree });
  if (host) {
    if (Object.keys(changes.update).length > 0 || (wasUnread && !unread)) host.update(changes.update);
  } else if (changes.update.files) {
    host = new Host(part("place"), root.dataset.frame, receive);
    host.update({ ...changes.update, packages, draft: null });
  }
  if (unread) {
    stale(true);
    view.failure(part("failure"), { kind: "", message: unread.message, hint: unread.hint });
  }
}

// ask returns what changed after state n, null for nothing yet.
async function ask(n) {
  const response = await fetch("changes?after=" + n);
  if (response.status === 204) return null;
  if (!response.ok) throw new Error(await response.text());
  return readChanges(new Uint8Array(await response.arrayBuffer()));
}

async function follow() {
  const packages = new Map(Object.entries((await (await fetch("packages.json")).json()).modules));
  for (let n = 0; ; ) {
    try {
      const changes = await ask(n);
      if (!changes) continue;
      n = changes.n;
      take(changes, packages);
    } catch (error) {
      stale(true);
      const ended = error instanceof TypeError; // fetch found nobody
      view.failure(part("failure"), { kind: "", message: ended ? "tool preview has ended." : error.message, hint: ended ? "Run it again: tool preview --local" : "" });
      await pause(1000);
      n = 0; // everything, as what was sent may be lost
    }
  }
}

part("previews").addEventListener("change", (event) => host?.update({ preview: event.target.value || null }));
follow();
