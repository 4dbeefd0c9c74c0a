// address.js reads which key an address of the editor names, /@acme/web#key=theme.colour, and moves the
// focus to keys.

import { parents } from "./keys.js";

// address returns the key that a hash names, null if it names none.
export function address(hash = location.hash) {
  if (!hash.startsWith("#key=")) return null;
  try {
    return decodeURIComponent(hash.slice("#key=".length));
  } catch {
    return null;
  }
}

// follow calls go with the key of the page's address, if it has one, and with that of each link to a key
// that is followed, even if the address stays the same.
export function follow(project, go) {
  const now = () => {
    const key = address();
    if (key !== null) go(key);
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || link.pathname !== `/${project}` || address(link.hash) === null) return;
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (link.hash !== location.hash) history.pushState(null, "", link.hash);
    now();
  });
  addEventListener("popstate", now);
  now();
}

// nearest returns the key among keys that shows key: itself, the one whose value contains it, or the first
// one below it; undefined if there is none.
export function nearest(key, keys) {
  const all = new Set(keys);
  return [key, ...parents(key).reverse()].find((k) => all.has(k)) ?? keys.find((k) => k.startsWith(`${key}.`));
}

// focusKey moves the focus to the control of a key, or to what there is to do with it; to the filter if the
// key is not shown.
export function focusKey(key) {
  const row = document.querySelector(`#editor [data-key="${CSS.escape(key)}"]`);
  const control =
    row?.querySelector(
      ".control :is(input:checked, input:not([type=radio], [type=range], [type=color]), textarea, select)",
    ) ?? row?.querySelector("input, button, summary");
  (control ?? document.querySelector("#editor [type=search]"))?.focus({ preventScroll: true });
  (control ? row : undefined)?.scrollIntoView({ block: "nearest" });
}
