// records.js shows an array of enrichments as records with members, so that nobody has to
// edit JSON for it.

import { button, h, newID } from "./dom.js";
import { isReference, readArray, root, writeArray } from "./enrichments.js";
import { quote } from "./json.js";
import { shown } from "./keys.js";
import { control, reading, typeSelect } from "./control.js";
import { toInput, toText } from "./values.js";

// Records is the view of the key enrichments. It keeps what is typed in each member, also
// while that is no value: the config then contains no valid list, and cannot be saved.
export class Records {
  #text; // that the elements show

  constructor(model, editor) {
    Object.assign(this, { model, editor });
    this.element = h("div", { class: "entries" });
    this.says = []; // what refreshes the notes of each member
  }

  // refresh shows the records as they are in the model; false if they are none.
  refresh() {
    const field = this.model.knows(root) ? this.model.field(root) : undefined;
    if (field === undefined || field.state === "removed") return false;
    const text = field.text ?? field.input;
    if (text === this.#text) return true;
    const records = field.text === undefined || field.type !== "list" ? null : readArray(field.text);
    if (records === null) return false;
    this.#text = text;
    this.records = records.map((r) => [...r].map(([name, value]) => ({ name, ...toInput(value) })));
    this.#render();
    return true;
  }

  // mark says again what is wrong with members, for more is known of the API.
  mark() {
    for (const say of this.says) say();
  }

  // #changed records the edit in the model.
  #changed() {
    const whole = this.records.every((r) => r.every((m) => toText(m).text !== undefined));
    const members = (r, value) => r.map((m) => [m.name, value(m)]);
    if (whole) {
      this.#text = writeArray(this.records.map((r) => new Map(members(r, (m) => toText(m).text))));
      this.model.setText(root, this.#text);
    } else {
      this.#text = `[${this.records.map((r) => `{${members(r, (m) => toText(m).text ?? m.input).map(([n, v]) => `${quote(n)}:${v}`).join(",")}}`).join(",\n")}]`;
      this.model.set(root, "list", this.#text);
    }
    this.#offerReset();
    this.editor.onEdit(root);
  }

  // #render makes the elements anew; focus names the one that gets the focus.
  #render(focus) {
    const readOnly = this.editor.readOnly;
    this.says = [];
    const entries = this.records.map((record, i) => this.#entry(record, i));
    const add = !readOnly && button("Add a record", () => {
      this.records.push([{ name: "target", type: "text", input: "" }]);
      this.#changed();
      this.#render(`value ${this.records.length - 1} 0`);
    }, { class: "button small" });
    this.element.replaceChildren(
      this.records.length === 0 ? h("p", { class: "help" }, "No records.") : h("ol", {}, entries),
      h("div", { class: "actions" }, add, !readOnly && this.#whole("Reset", () => this.model.reset(root)), !readOnly && this.#whole("Remove all", () => this.model.remove(root))),
    );
    this.#offerReset();
    if (focus) this.element.querySelector(`[data-focus="${focus}"]`)?.focus();
  }

  // #whole makes a button that changes the key as a whole.
  #whole(text, change) {
    return button(text, () => {
      change();
      this.#text = undefined;
      this.refresh();
      this.editor.onKeys(root);
    }, { class: "button quiet small", "data-whole": text });
  }

  #offerReset() {
    for (const reset of this.element.querySelectorAll("[data-whole=Reset]")) reset.hidden = !this.model.edits.has(root) || !this.model.base.values.has(root);
  }

  #entry(record, i) {
    const name = () => shown(record.find((m) => isReference([m.name]) && m.type === "text")?.input || `Record ${i + 1}`);
    const act = (text, change, focus) => button(text, () => {
      change();
      this.#changed();
      this.#render(focus);
    }, { class: "button quiet small", "aria-label": `${text}: ${name()}`, "data-focus": `${text} ${i}` });
    const swap = (j) => () => { [this.records[i], this.records[j]] = [this.records[j], this.records[i]]; };
    const tools = this.editor.readOnly ? [] : [
      i > 0 && act("Up", swap(i - 1), `Up ${i - 1}`),
      i + 1 < this.records.length && act("Down", swap(i + 1), `Down ${i + 1}`),
      act("Remove", () => this.records.splice(i, 1), `Remove ${Math.max(0, i - 1)}`),
    ];
    const title = h("h3", { id: newID() }, h("code", {}, name()));
    const rename = () => {
      title.firstChild.textContent = name();
      for (const tool of tools) tool && tool.setAttribute("aria-label", `${tool.textContent}: ${name()}`);
    };
    return h("li", { class: "entry", "aria-labelledby": title.id },
      h("header", {}, title, h("div", { class: "tools" }, tools)),
      h("ul", { class: "keys" }, record.map((member, j) => this.#member(record, i, member, j, rename))),
      !this.editor.readOnly && this.#adding(record, i));
  }

  #member(record, i, member, j, rename) {
    const id = newID();
    const notes = h("div", { class: "notes", id: newID() });
    const item = h("li", { class: "key" });
    const value = h("div", { class: "value" });
    const say = () => {
      const { text, error } = toText(member);
      const mark = text !== undefined && this.editor.references.markMember([member.name], text);
      notes.replaceChildren(...[error && h("p", { class: "error" }, error), mark && h("p", { class: "advice" }, mark)].filter(Boolean));
      value.querySelector("input, textarea")?.setAttribute("aria-invalid", String(Boolean(error)));
    };
    const build = () => {
      if (this.editor.readOnly) {
        value.replaceChildren(h("span", { id, class: "read" }, reading(toText(member).text)));
        return;
      }
      const onInput = (type, input) => {
        const other = type !== member.type;
        Object.assign(member, { type, input });
        this.#changed();
        rename();
        if (other) {
          build();
          value.querySelector(".type").focus();
        }
        say();
      };
      const element = control(member, {
        id, describedBy: notes.id, about: this.editor.aboutMember([member.name]),
        suggest: isReference([member.name]) ? this.editor.references.datalist.id : undefined, onInput,
      });
      element.dataset.focus = `value ${i} ${j}`;
      value.replaceChildren(element, typeSelect(() => member, `Type of ${shown(member.name)}`, onInput));
    };
    build();
    say();
    this.says.push(say);
    const remove = !this.editor.readOnly && button("Remove", () => {
      record.splice(j, 1);
      this.#changed();
      this.#render(`add ${i}`);
    }, { class: "button quiet small", "aria-label": `Remove ${shown(member.name)}` });
    item.append(h("label", { class: "name", htmlFor: id }, h("code", {}, shown(member.name) || '""')), value, h("div", { class: "tools" }, remove || ""), notes);
    return item;
  }

  #adding(record, i) {
    const input = h("input", { type: "text", "aria-label": "Name of a new member", placeholder: "label", autocomplete: "off", spellcheck: false, maxLength: 200, "data-focus": `add ${i}` });
    const problem = h("p", { class: "error", hidden: true });
    return h("form", {
      class: "adding",
      onsubmit: (event) => {
        event.preventDefault();
        const taken = record.some((m) => m.name === input.value);
        problem.hidden = !taken && input.value !== "";
        problem.textContent = taken ? "The record has this member already." : "Enter a name.";
        if (!problem.hidden) return;
        record.push({ name: input.value, type: "text", input: "" });
        this.#changed();
        this.#render(`value ${i} ${record.length - 1}`);
      },
    }, input, h("button", { class: "button quiet small" }, "Add member"), problem);
  }
}
