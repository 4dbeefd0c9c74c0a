// presence.js shows in the head who else has this project open, and which key they edit. The hub keeps that
// in memory, and forgets a tab that it does not hear from.

import { shown } from "./keys.js";
import { listen } from "./stream.js";

const beat = 20_000; // ms between two signs of life; the hub waits for 30 s
const settled = 300; // ms for which a key must have the focus

const tab = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

// present says that this tab shows the project at path, and shows who else does.
export function present(path) {
  const faces = document.getElementById("present");
  if (!faces.dataset.viewer) return;
  let key = "";
  let timer;
  const beating = setInterval(say, beat);

  async function say() {
    if (document.visibilityState !== "visible") return;
    const body = JSON.stringify({ tab, key });
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${path}/presence`, { method: "PUT", headers, body }).catch(() => null);
    if (answer?.status === 403 || answer?.status === 404) clearInterval(beating); // not for this viewer
  }

  addEventListener("focusin", ({ target }) => {
    const now = target.closest?.("[data-key]")?.dataset.key ?? "";
    if (now === key) return;
    key = now;
    clearTimeout(timer);
    timer = setTimeout(say, settled);
  });
  listen(path, (event, data) => {
    if (event === "open") say();
    if (event === "presence") faces.replaceChildren(...others(data.people, faces.dataset.viewer).map(face));
  });
}

// others returns each of the people once, with a key that they edit, without the viewer.
function others(people, viewer) {
  const keys = new Map();
  for (const { user, key } of people) if (user !== viewer) keys.set(user, keys.get(user) || key || "");
  return [...keys];
}

const hues = 6;

function face([user, key]) {
  const sum = [...user].reduce((hash, c) => Math.imul(hash ^ c.charCodeAt(0), 16777619) >>> 0, 2166136261); // FNV-1a
  const what = key ? `${user} edits ${shown(key)}` : `${user} has this project open`;
  const element = document.createElement("span");
  Object.assign(element, { className: `face hue${sum % hues}`, title: what, textContent: user[0].toUpperCase() });
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", what);
  return element;
}
