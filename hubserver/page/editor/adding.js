// adding.js is the form that adds a key.

import { button, h, newID } from "./dom.js";
import { control } from "./control.js";
import { convert, toInput, toText, types } from "./values.js";
import { fallback, fieldType } from "./schema.js";

// Adding is a form below the editor's bar. onAdd(key, type, input) adds a key and returns
// why it cannot, "" if it can; about(key) is what a schema says; unset() lists the keys
// that it names and the config does not have.
export class Adding {
  constructor({ onAdd, about, unset }) {
    Object.assign(this, { onAdd, about, unset });
    this.value = { type: "text", input: "" };
    this.touched = false;
    const problem = newID();
    const names = newID();
    this.key = h("input", {
      type: "text", id: newID(), autocomplete: "off", spellcheck: false, class: "mono", placeholder: "theme.colour", list: names, maxLength: 1000,
      "aria-describedby": problem, oninput: () => this.#follow(),
    });
    this.names = h("datalist", { id: names });
    this.type = h("select", { id: newID(), onchange: () => this.#become(this.type.value) }, Object.entries(types).map(([type, name]) => h("option", { value: type }, name)));
    this.slot = h("div", {});
    this.slotLabel = h("label", {}, "Value");
    this.problem = h("p", { class: "error", id: problem, hidden: true, role: "alert" });
    this.element = h("form", { class: "panel adding-key", hidden: true, onsubmit: (event) => this.#submit(event), onkeydown: (event) => event.key === "Escape" && this.close() },
      h("h2", { class: "unseen" }, "Add a key"),
      h("div", { class: "field" }, h("label", { htmlFor: this.key.id }, "Key"), this.key, this.names),
      h("div", { class: "field" }, h("label", { htmlFor: this.type.id }, "Type"), this.type),
      h("div", { class: "field" }, this.slotLabel, this.slot),
      h("div", { class: "actions" }, h("button", { class: "button primary" }, "Add"), button("Cancel", () => this.close(), { class: "button quiet" })),
      this.problem,
      h("p", { class: "help" }, "Names are joined by dots. Write ", h("code", {}, "\\."), " for a dot inside a name."));
    this.#build();
  }

  // open shows the form for a key that begins with prefix.
  open(prefix) {
    this.opener = document.activeElement;
    this.key.value = prefix;
    this.names.replaceChildren(...this.unset().slice(0, 500).map((key) => h("option", { value: key })));
    this.element.hidden = false;
    this.#follow();
    this.element.scrollIntoView({ block: "nearest" });
    this.key.focus();
  }

  close() {
    this.element.hidden = true;
    this.#say("");
    if (this.opener?.isConnected) this.opener.focus();
  }

  // #follow takes type and default from the schema until a value was typed.
  #follow() {
    const about = this.about(this.key.value);
    const text = fallback(about);
    if (!this.touched && about) this.value = text !== null ? toInput(text) : { type: fieldType(about), input: "" };
    if (!this.touched) this.#build();
  }

  #become(type) {
    this.value = { type, input: convert(this.value, type) };
    this.touched = true;
    this.#build();
  }

  #build() {
    this.type.value = this.value.type;
    const id = newID();
    this.slotLabel.htmlFor = id;
    this.slot.replaceChildren(control(this.value, {
      id, describedBy: this.problem.id, about: this.about(this.key.value), suggest: undefined,
      onInput: (type, input) => {
        this.value = { type, input };
        this.touched = true;
      },
    }));
  }

  #submit(event) {
    event.preventDefault();
    const { error } = toText(this.value);
    const problem = error ?? this.onAdd(this.key.value, this.value.type, this.value.input);
    this.#say(problem);
    if (problem) return (error ? this.slot.querySelector("input, textarea, select") : this.key)?.focus();
    this.value = { type: "text", input: "" };
    this.touched = false;
    this.element.hidden = true;
  }

  #say(problem) {
    this.problem.hidden = problem === "";
    this.problem.textContent = problem;
    this.key.setAttribute("aria-invalid", String(problem !== ""));
  }
}
