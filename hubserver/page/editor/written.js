// written.js keeps the line up to date that says above a project's tabs who saved its config, and how many
// revisions the History tab has.

let busy = Promise.resolve();

// way names how a config was written: "saved through the API".
export const way = (via) => ({ page: "the project page", api: "the API" })[via] ?? via;

// sayWritten reads the line in the page as it is now, if it is about another revision. What cannot be read
// now comes with a later event.
export function sayWritten(revision) {
  busy = busy.then(() => read(revision)).catch(() => {});
}

async function read(revision) {
  const former = document.getElementById("written");
  if (!former || former.dataset.revision === revision) return;
  const text = await (await fetch(location.href, { headers: { Accept: "text/html" } })).text();
  const now = new DOMParser().parseFromString(text, "text/html");
  const tab = '.tabs [href$="/history"]';
  document.querySelector(tab).replaceChildren(...now.querySelector(tab).childNodes);
  former.replaceWith(now.getElementById("written"));
}
