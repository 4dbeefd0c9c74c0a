// notices.js shows what happened, at the bottom of the window: one notice of each kind at a time.

import { button, h } from "./dom.js";

// Notices is a region that screen readers announce.
export class Notices {
  #shown = new Map();

  constructor() {
    this.element = h("div", { class: "notices", role: "status", "aria-live": "polite" });
  }

  // show shows a notice in place of the former one of its kind. look is info, good,
  // warning or bad; actions maps the texts of buttons to what they do.
  show(kind, look, text, actions = {}, link) {
    const buttons = Object.entries(actions).map(([name, act]) => button(name, act, { class: "button small" }));
    const notice = h("div", { class: `notice ${look}` }, h("p", {}, text), (buttons.length > 0 || link) && h("div", { class: "actions" }, link, buttons));
    const former = this.#shown.get(kind);
    if (former) former.replaceWith(notice);
    else this.element.append(notice);
    this.#shown.set(kind, notice);
  }

  hide(kind) {
    this.#shown.get(kind)?.remove();
    this.#shown.delete(kind);
  }
}
