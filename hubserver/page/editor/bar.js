// bar.js is what is above and below the list: the search, and what is to be saved.

import { button, h, newID, number, plural } from "./dom.js";
import { counts } from "./difference.js";

// waiting is how long after the last key a search starts, in milliseconds: at once for
// what is fast, which a search is.
const waiting = 0;

// Bar calls onSearch, onAdd, onSave, onDiscard and onUndo; toggle is the button for the
// preview.
export class Bar {
  constructor({ readOnly, toggle, onSearch, onAdd, onSave, onDiscard, onUndo }) {
    this.search = h("input", { type: "search", "aria-label": "Search keys and values", placeholder: "Search keys and values", autocomplete: "off", spellcheck: false, maxLength: 200, "aria-keyshortcuts": "/", oninput: () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(onSearch, waiting);
    } });
    this.count = h("p", { class: "count", role: "status", id: newID() });
    this.filter = h("button", { type: "button", class: "button quiet", "aria-pressed": "false", hidden: true, onclick: () => {
      this.filter.setAttribute("aria-pressed", String(!this.changedOnly));
      onSearch();
    } }, "Only changes");
    this.undoing = button("Undo last save", onUndo, { class: "button quiet", hidden: true });
    this.adding = button("Add key", onAdd);
    this.element = h("div", { class: "edit-bar", role: "search", "aria-label": "Keys" }, this.search, this.count, this.filter, !readOnly && this.undoing, !readOnly && this.adding, toggle);
    this.summary = h("p", { class: "summary", role: "status" });
    this.save = button("Review and save", onSave, { class: "button primary", "aria-keyshortcuts": "Control+S" });
    this.discard = button("Discard", onDiscard, { class: "button quiet" });
    this.footer = h("div", { class: "save-bar", role: "region", "aria-label": "Unsaved changes", hidden: true }, this.summary, h("div", { class: "actions" }, this.discard, this.save));
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
      event.preventDefault();
      this.focus();
    });
  }

  get query() {
    return this.search.value;
  }

  get changedOnly() {
    return this.filter.getAttribute("aria-pressed") === "true";
  }

  get filtered() {
    return this.changedOnly || this.query.trim() !== "";
  }

  clear() {
    this.search.value = "";
    this.filter.setAttribute("aria-pressed", "false");
  }

  focus() {
    this.search.focus();
  }

  // show shows how many keys there are and, for a restricted list, how many of them match.
  show({ keys, found, ...edits }) {
    this.count.textContent = found === undefined ? plural(keys, "key") : `${number(found)} of ${plural(keys, "key")}`;
    this.follow(edits);
  }

  // follow shows what is to be saved.
  follow({ problems, changes, edits, saved }) {
    this.footer.hidden = edits === 0;
    this.filter.hidden = edits === 0 && !this.changedOnly;
    this.undoing.hidden = edits > 0 || !saved;
    const wrong = problems > 0 ? `${plural(problems, "value")} to correct` : "";
    const text = [changes.length > 0 ? counts(changes) : "", wrong].filter(Boolean).join(" · ");
    if (this.summary.textContent !== text) this.summary.textContent = text;
  }

  // busy shows that a save is under way.
  busy(busy) {
    this.save.disabled = busy;
    this.save.textContent = busy ? "Saving…" : "Review and save";
  }
}
