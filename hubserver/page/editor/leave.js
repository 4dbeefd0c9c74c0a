// leave.js warns before unsaved changes are lost.

import { dirty } from "./draft.js";
import { page } from "./hub.js";
import { keep } from "./save.js";

// warn asks before the page is left with changes, except for pages to which the draft goes along: those of
// the project, and signing in.
export function warn() {
  let stays = false; // a link to such a page was followed
  addEventListener("beforeunload", (event) => {
    const kept = keep();
    if (dirty.peek() && !(stays && kept)) event.preventDefault();
  });
  addEventListener("pagehide", keep);
  addEventListener("pageshow", () => {
    stays = false;
  });
  document.addEventListener("click", (event) => {
    const to = event.target.closest?.("a[href]");
    const elsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    setTimeout(() => {
      stays = false;
    }, 1000); // it was not followed
    stays =
      Boolean(to) &&
      !elsewhere &&
      [`/${page.project}`, "/sign-in"].some((p) => to.pathname === p || to.pathname.startsWith(`${p}/`));
  });
}
