// row.js is one key in the list: its name, its value to edit or to read, and what there
// is to say about it.

import { button, h, newID } from "./dom.js";
import { isEnrichment } from "./enrichments.js";
import { firstSegment, joinKey, shown, splitKey } from "./keys.js";
import { control, reading, typeSelect } from "./control.js";
import { fallback, fieldType, finding, hint } from "./schema.js";
import { toInput } from "./values.js";

// heading returns the part of a key that the headings above its row say already.
function heading(key) {
  const segment = firstSegment(key);
  if (segment === key) return "";
  const path = isEnrichment(key) ? splitKey(key) : [];
  return `${path.length > 2 ? joinKey(path.slice(0, 2)) : segment}.`;
}

// Row shows a key of a model. The editor tells it what a schema says, which targets there
// are, and what to do:
//   about(key), references: what is wrong with a reference, and suggestions, refused(key): what
//   the hub said; readOnly; onEdit(key), onKeys(key).
export class Row {
  #mode;
  #input;

  constructor(model, key, editor) {
    Object.assign(this, { model, key, editor });
    this.id = newID();
    this.notes = h("div", { class: "notes", id: newID() });
    this.value = h("div", { class: "value" });
    this.tools = h("div", { class: "tools" });
    this.element = h("li", { class: "key" }, this.#name(), this.value, this.tools, this.notes);
    this.element.dataset.key = key;
    this.refresh();
  }

  #name() {
    const about = this.editor.about(this.key);
    const above = heading(this.key);
    const rest = this.key.slice(above.length);
    const name = h("code", {}, above === "" ? "" : h("span", { class: "unseen" }, shown(above)), shown(rest) || '""');
    const title = typeof about?.title === "string" && h("span", { class: "schema-title" }, shown(about.title));
    return h("label", { class: "name", htmlFor: this.id }, name, title);
  }

  // refresh shows the key as it is in the model now. The control stays while it shows what
  // the model has, so that the cursor does not move.
  refresh() {
    const field = this.model.knows(this.key) ? this.model.field(this.key) : { state: "unset", type: "", input: "", error: "" };
    this.element.dataset.state = field.state;
    const mode = ["removed", "unset"].includes(field.state) ? field.state : field.type;
    if (mode !== this.#mode || field.input !== this.#input) this.#rebuild(field);
    this.#mode = mode;
    this.#input = field.input;
    this.#tool(field);
    this.#say(field);
  }

  #rebuild(field) {
    const { editor, key, value } = this;
    const focused = value.contains(document.activeElement) && document.activeElement.className;
    if (field.state === "unset") {
      const text = fallback(editor.about(key));
      value.replaceChildren(h("span", { class: "help", id: this.id }, text === null ? "not set" : "not set, by default ", text === null ? "" : reading(text)));
    } else if (editor.readOnly || field.state === "removed") {
      value.replaceChildren(h("span", { id: this.id, class: "read" }, reading(field.text)));
    } else {
      const onInput = (type, input) => this.#edit(type, input);
      value.replaceChildren(
        control(field, { id: this.id, describedBy: this.notes.id, about: editor.about(key), suggest: editor.references.suggest(key), onInput }),
        typeSelect(() => this.model.field(key), `Type of ${shown(key)}`, onInput),
      );
    }
    if (focused !== false) (focused === "type" ? value.querySelector(".type") : this.control)?.focus();
  }

  #edit(type, input) {
    this.model.set(this.key, type, input);
    if (type === this.#mode) this.#input = input;
    this.refresh();
    this.editor.onEdit(this.key);
  }

  #tool({ state }) {
    const { editor, key, model } = this;
    if (editor.readOnly) return;
    if (this.tools.dataset.state === state) return;
    this.tools.dataset.state = state;
    const name = shown(key);
    const act = (change, focus) => () => {
      change();
      this.refresh();
      editor.onKeys(key);
      if (focus) this.focus();
    };
    const reset = (text) => button(text, act(() => model.reset(key), true), { class: "button quiet small", "aria-label": `${text} ${name}` });
    const remove = button("Remove", act(() => model.remove(key)), { class: "button quiet small", "aria-label": `Remove ${name}` });
    const set = button("Set", act(() => this.#fill(), true), { class: "button quiet small", "aria-label": `Set ${name}` });
    const had = this.tools.contains(document.activeElement);
    this.tools.replaceChildren(...{ same: [remove], changed: [reset("Reset"), remove], added: [remove], removed: [reset("Restore")], unset: [set] }[state]);
    if (had) this.tools.querySelector("button").focus();
  }

  // #fill adds the key with its default, or an empty value of its type.
  #fill() {
    const about = this.editor.about(this.key);
    const text = fallback(about);
    const type = fieldType(about);
    if (text !== null && !(text[0] === "{" && text !== "{}")) this.model.add(this.key, ...Object.values(toInput(text)));
    else this.model.add(this.key, type, { number: "0", boolean: "false", list: "[]" }[type] ?? "");
  }

  #say({ state, text, base, error, type, input }) {
    const { editor, key } = this;
    const about = editor.about(key);
    const lines = [];
    if (typeof about?.description === "string") lines.push(h("p", { class: "help" }, shown(about.description)));
    const range = state === "same" ? "" : hint(about);
    const wrong = error || editor.refused(key);
    const advice = wrong || state === "removed" || state === "unset" ? "" : finding(about, text) || editor.references.mark(key, text);
    if (wrong) lines.push(h("p", { class: "error" }, wrong));
    if (advice) lines.push(h("p", { class: "advice" }, advice));
    if (range && !advice) lines.push(h("p", { class: "help" }, `Allowed: ${range}`));
    if (type === "text" && state !== "removed" && shown(input.replace(/[\n\t]/g, "")) !== input.replace(/[\n\t]/g, "")) lines.push(h("p", { class: "help" }, "Contains characters that are not visible: ", reading(text ?? input)));
    if (state === "changed" && base !== null) lines.push(h("p", { class: "was" }, "was ", reading(base)));
    this.notes.replaceChildren(...lines);
    this.control?.setAttribute("aria-invalid", String(Boolean(wrong)));
  }

  get control() {
    return this.value.querySelector("input, textarea, select:not(.type)");
  }

  focus() {
    (this.control ?? this.value.querySelector("select") ?? this.tools.querySelector("button"))?.focus();
  }
}
