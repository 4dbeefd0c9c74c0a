// written.js says above the tabs of a project who wrote the config that is shown.

import { shown } from "./keys.js";

// recent is for how long what was written was written just now, in milliseconds.
const recent = 60_000;

// way names how a config was written: "saved through the API".
export const way = (via) => ({ page: "the project page", api: "the API" })[via] ?? via;

// sayWritten takes {by, via, at}.
export function sayWritten({ by, via, at }) {
  const line = document.getElementById("written");
  if (!line) return;
  const time = new Date(at);
  const when = Object.assign(document.createElement("time"), { dateTime: at });
  when.textContent = Date.now() - time < recent ? "just now" : time.toLocaleString();
  const name = document.createElement("strong");
  name.textContent = shown(by);
  line.replaceChildren("Config written ", when, " by ", name, ` through ${way(via)}`);
}
