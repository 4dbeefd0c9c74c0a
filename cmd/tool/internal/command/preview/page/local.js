// Shows a local project: it hands what tool reads from the working tree to the frame, and
// shows what the frame says.

import { Host } from "./preview/host.js";
import * as view from "./preview/view.js";

const root = document.getElementById("preview");
const part = (name) => root.querySelector(`[data-part="${name}"]`);
const stale = (is) => part("place").classList.toggle("stale", is);

const host = new Host(part("place"), root.dataset.frame, receive); // it starts while tool reads the files
let failed = 0; // the number of the last update that did
let shown = { n: 0, stack: {}, files: new Map() }; // of the working tree

function receive(message) {
  switch (message.type) {
    case "failed":
      failed = message.n;
      stale(true);
      view.failure(part("failure"), message);
      break;
    case "generated":
      view.said(part("notes"), message.n, message.notes);
      view.menu(part("previews"), message.previews);
      break;
    case "printed":
      view.said(part("notes"), message.n, [message]);
      break;
    case "painted":
      if (shown.failed) break;
      root.dataset.state = "painted";
      if (message.n <= failed) break; // what is shown again after a failure is the last good view
      stale(false);
      view.failure(part("failure"), null);
      break;
    case "left":
      if (message.n > failed) refuse("left", message.address);
  }
}

const refuse = (kind, message, hint) => view.failure(part("failure"), { kind, message, hint });

// read reads what tool sends about the working tree: a line of JSON, and then the contents
// of the files that it lists, but for those that the page has.
function read(bytes) {
  const end = bytes.indexOf(10);
  const now = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  let at = end + 1;
  const contents = (list, before) => new Map(list.map(({ path, size, large, same }) => {
    if (same) return [path, before.get(path)];
    if (large) return [path, { size }];
    at += size;
    return [path, bytes.slice(at - size, at)];
  }));
  now.stack = { module: null, ...now.stack, files: contents(now.imports, shown.stack.files) };
  now.files = contents(now.files, shown.files);
  return now;
}

// take shows what is new in the working tree.
function take(now, packages) {
  const isFirst = shown.n === 0;
  const update = isFirst ? { packages, draft: null } : {};
  if (now.revision !== shown.revision) update.saved = now.config;
  if (now.api !== shown.api) update.api = now.api;
  if (now.stack.digest !== shown.stack.digest) update.stack = now.stack;
  const changed = [...now.files].filter(([path, content]) => content !== shown.files.get(path));
  for (const path of shown.files.keys()) if (!now.files.has(path)) changed.push([path, null]);
  if (isFirst) update.files = now.files;
  else if (changed.length > 0) update.changed = changed;
  const readAgain = shown.failed && !now.failed;
  shown = now;
  view.facts(part("facts"), { stack: now.stack, revision: now.revision, draft: false, tree: now.tree });
  if (Object.keys(update).length > 0 || readAgain) host.update(update);
  if (now.failed) {
    stale(true);
    refuse("", now.failed.message, now.failed.hint);
  }
}

async function follow() {
  const packages = new Map(Object.entries((await (await fetch("packages.json")).json()).modules));
  for (let n = 0; ; ) {
    try {
      const response = await fetch("changes?after=" + n);
      if (response.status === 204) continue;
      if (!response.ok) throw new Error(await response.text());
      take(read(new Uint8Array(await response.arrayBuffer())), packages);
      n = shown.n;
    } catch (error) {
      stale(true);
      const ended = error instanceof TypeError; // fetch found nobody
      if (ended) refuse("", "tool preview has ended.", "Run it again: tool preview --local");
      else refuse("", error.message);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      n = 0; // everything, as what was sent may be lost
    }
  }
}

part("previews").addEventListener("change", (event) => host.update({ preview: event.target.value || null }));
follow();
