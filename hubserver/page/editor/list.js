// list.js shows the keys of a config by group. Of a large config it makes the elements of
// some keys only, and of more as they are scrolled to or asked for.

import { button, h, newID, number, plural } from "./dom.js";
import { isEnrichment, recordOf, root } from "./enrichments.js";
import { shown } from "./keys.js";
import { Row } from "./row.js";

// open is how many keys are shown at first, in the groups from the top; groups below are
// closed. step is how many a group shows at a time.
const open = 100;
const step = 50;

// List shows rows in an element. records makes the element that shows the array of
// enrichments as records, or null if it is none.
export class List {
  #rows = new Map();
  #groups = new Map(); // by name: {opened, limit}
  #observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) target.more();
  }, { rootMargin: "600px" });

  constructor(model, editor, records) {
    Object.assign(this, { model, editor, records });
    this.element = h("div", { class: "groups" });
  }

  // show shows the groups, a Map from names to keys, as they are now. With only, a Set,
  // other keys are left out and groups with matches are open. It returns how many keys match.
  show(groups, only) {
    this.#observer.disconnect();
    const focused = this.element.contains(document.activeElement) ? document.activeElement : null;
    let budget = open;
    let count = 0;
    const sections = [];
    for (const [name, all] of groups) {
      const keys = only ? all.filter((key) => only.has(key)) : all;
      if (keys.length === 0) continue;
      const known = this.#groups.get(name);
      const opened = only ? budget > 0 : (known?.opened ?? (budget > 0 && (keys.length <= budget || sections.length === 0)));
      const limit = only ? step : (known?.limit ?? step);
      if (opened) budget -= Math.min(limit, keys.length);
      count += keys.length;
      sections.push(this.#section(name, keys, opened, limit, only !== undefined));
    }
    this.element.replaceChildren(...sections);
    if (focused?.isConnected) focused.focus(); // moving an element takes the focus away
    return count;
  }

  #section(name, keys, opened, limit, passing) {
    const state = { opened, limit };
    if (!passing) this.#groups.set(name, state);
    const list = h("ul", { class: "keys", id: newID(), hidden: !opened });
    const title = h("span", {}, name === "" ? "Top level" : h("code", {}, shown(name.slice(0, -1))));
    const head = h("button", { type: "button", class: "group", "aria-expanded": String(opened), "aria-controls": list.id }, title, h("span", { class: "badge" }, number(this.#count(keys))));
    const marks = h("span", { class: "marks" });
    const add = !this.editor.readOnly && !keys.includes(root) && h("button", { type: "button", class: "button quiet small", onclick: () => this.editor.onAdd(name), "aria-label": name === "" ? "Add a key" : `Add a key in ${shown(name.slice(0, -1))}` }, "Add");
    const section = h("section", { class: "section" }, h("header", {}, h("h2", {}, head), marks, add), list);
    section.dataset.group = name;
    head.addEventListener("click", () => {
      state.opened = list.hidden;
      list.hidden = !state.opened;
      head.setAttribute("aria-expanded", String(state.opened));
      if (state.opened && list.childElementCount === 0) this.#fill(list, keys, state);
    });
    section.mark = () => {
      const changed = keys.filter((key) => this.model.edits.has(key)).length;
      marks.replaceChildren(changed > 0 ? h("span", { class: "badge accent" }, `${number(changed)} changed`) : "");
    };
    section.mark();
    if (opened) this.#fill(list, keys, state);
    return section;
  }

  #fill(list, keys, state) {
    const items = [];
    let record;
    for (const key of keys.slice(0, state.limit)) {
      if (key === root) {
        const records = this.records();
        if (records) {
          items.push(h("li", { class: "records" }, records));
          continue;
        }
      }
      if (isEnrichment(key) && recordOf(key) !== record) {
        record = recordOf(key);
        if (record !== null) items.push(this.#recordName(record));
      }
      items.push(this.row(key).element);
    }
    list.replaceChildren(...items);
    if (keys.length > state.limit) list.append(this.#more(list, keys, state));
  }

  // #count is what the heading of a group says: how many keys, or records, there are.
  #count(keys) {
    const records = keys.length === 1 && keys[0] === root && this.records();
    return records ? records.querySelectorAll(".entry").length : keys.filter((key) => this.model.knows(key)).length;
  }

  #recordName(record) {
    const advice = h("p", { class: "advice", hidden: true });
    const item = h("li", { class: "record-name" }, h("h3", {}, h("code", {}, shown(record) || '""')), advice);
    item.mark = () => {
      advice.textContent = this.editor.references.markRecord(record, this.model.keys());
      advice.hidden = advice.textContent === "";
    };
    item.mark();
    return item;
  }

  #more(list, keys, state) {
    const left = keys.length - state.limit;
    const more = () => {
      const had = item.contains(document.activeElement);
      const next = keys[state.limit];
      state.limit += step;
      this.#observer.unobserve(item);
      this.#fill(list, keys, state);
      if (had) this.row(next).focus();
    };
    const item = h("li", { class: "more" }, button(`Show ${number(Math.min(step, left))} more of ${plural(left, "key")}`, more, { class: "button quiet" }));
    item.more = more;
    this.#observer.observe(item);
    return item;
  }

  // row returns the row of a key, which is made when it is first asked for.
  row(key) {
    if (!this.#rows.has(key)) this.#rows.set(key, new Row(this.model, key, this.editor));
    return this.#rows.get(key);
  }

  // refresh brings rows that exist up to date with the model: those of keys, or all.
  refresh(keys = [...this.#rows.keys()]) {
    for (const key of keys) this.#rows.get(key)?.refresh();
    const names = keys.some(isEnrichment) ? ".section, .record-name" : ".section";
    for (const element of this.element.querySelectorAll(names)) element.mark();
  }

  // flash marks keys for a moment.
  flash(keys) {
    for (const key of keys) {
      const element = this.#rows.get(key)?.element;
      element?.classList.add("flash");
      element?.addEventListener("animationend", () => element.classList.remove("flash"), { once: true });
    }
  }

  // reveal shows a key, whatever its group shows now, and moves the focus to it.
  reveal(key, groups) {
    for (const [name, keys] of groups) {
      const at = keys.indexOf(key);
      if (at < 0) continue;
      const { limit = step } = this.#groups.get(name) ?? {};
      this.#groups.set(name, { opened: true, limit: Math.max(limit, Math.ceil((at + 1) / step) * step) });
    }
    this.show(groups);
    const row = this.row(key);
    if (row.element.isConnected) {
      row.element.scrollIntoView({ block: "center" });
      return row.focus();
    }
    const records = this.element.querySelector(".records"); // in place of the row
    records?.scrollIntoView({ block: "nearest" });
    records?.querySelector("input, textarea, select, button")?.focus();
  }
}
