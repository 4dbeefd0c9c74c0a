// dialog.js asks: whether to save a difference, and which side of a conflict to keep.

import { button, h, newID, plural } from "./dom.js";
import { counts, elements, sign } from "./difference.js";
import { shown } from "./keys.js";
import { reading } from "./control.js";

// ask shows a dialog until it is closed, and returns what close was called with; undefined
// after Esc. fill gets close, and returns the dialog's body and buttons.
function ask(title, fill) {
  return new Promise((resolve) => {
    let answer;
    const heading = h("h2", { id: newID() }, title);
    const dialog = h("dialog", { class: "ask", "aria-labelledby": heading.id });
    const close = (value) => {
      answer = value;
      dialog.close();
    };
    const { body, buttons } = fill(close);
    dialog.append(h("div", { class: "head" }, heading), h("div", { class: "body", tabIndex: 0, role: "group", "aria-labelledby": heading.id }, body), h("div", { class: "foot" }, buttons));
    const focused = document.activeElement;
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (focused?.isConnected) focused.focus();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

// changeList shows a difference key by key.
export function changeList(changes) {
  return h("ul", { class: "diff" }, changes.map(({ kind, key, from, to }) => {
    const found = kind === "changed" ? elements(from, to) : undefined;
    return h("li", { class: kind },
      h("div", {}, h("span", { class: "unseen" }, `${kind}: `), h("strong", {}, shown(key) || '""'), ": ",
        found ? `elements: ${counts(found)}` : kind === "changed" ? [h("del", {}, reading(from)), " → ", h("ins", {}, reading(to))] : reading(to ?? from),
        found && h("ul", { class: "elements" }, found.map((e) => h("li", {}, `${sign(e.kind)} [${e.index}] `, e.from !== undefined && h("del", {}, reading(e.from)), e.kind === "changed" && " → ", e.to !== undefined && h("ins", {}, reading(e.to))))),
      ));
  }));
}

// review shows a difference before it is saved, and more below it, and returns whether to
// save it.
export const review = (changes, { title, text, action, more }) => ask(title, (close) => ({
  body: [h("p", { class: "summary" }, counts(changes), text && h("span", { class: "subdued" }, ` · ${text}`)), changeList(changes), more],
  buttons: [button("Keep editing", () => close(false)), button(action, () => close(true), { class: "button primary", autofocus: true })],
}));

// choose shows conflicts with the three values of each, and returns a Map from keys to
// "mine" or "theirs"; undefined if it was left without a choice.
export const choose = (conflicts, who) => ask("Changed on both sides", (close) => {
  const choices = new Map();
  const problem = h("p", { class: "error", role: "alert", hidden: true });
  const sets = conflicts.map((conflict) => choice(conflict, who, choices));
  const all = (side) => button(side === "mine" ? "All mine" : "All theirs", () => sets.forEach((set) => set.pick(side)), { class: "button small" });
  const apply = () => {
    const missing = sets.find((set) => set.value === undefined);
    if (!missing) return close(new Map(sets.map((set) => [set.key, set.value])));
    problem.hidden = false;
    problem.textContent = "Choose a value for each key.";
    missing.element.querySelector("input").focus();
  };
  return {
    body: [
      h("p", {}, `${who} saved ${plural(conflicts.length, "key")} that you changed too. Nothing is lost until you choose; other keys are merged.`),
      conflicts.length > 1 && h("div", { class: "actions" }, all("mine"), all("theirs")),
      ...sets.map((set) => set.element), problem,
    ],
    buttons: [button("Decide later", () => close(undefined)), button("Use the chosen values", apply, { class: "button primary" })],
  };
});

function choice({ key, base, theirs, mine, edit, blocks }, who) {
  const name = newID();
  const set = { key, value: undefined };
  const side = (value, label, text) => {
    const input = h("input", { type: "radio", name, value, id: newID(), onchange: () => { set.value = value; } });
    return h("div", { class: "choice" }, input, h("label", { htmlFor: input.id }, label, " ", text));
  };
  const value = (text, typed) => (text === null ? h("em", {}, typed === undefined ? "removed" : "absent") : text === undefined ? reading(typed ?? "") : reading(text));
  const inTheWay = blocks !== undefined && h("p", { class: "help" }, `${who} added `, h("code", {}, shown(blocks)), ", which cannot exist together with this key: keeping yours removes it.");
  set.element = h("fieldset", { class: "conflict" },
    h("legend", {}, h("code", {}, shown(key) || '""')),
    h("p", { class: "was" }, "base ", base === null ? h("em", {}, "absent") : reading(base)),
    side("theirs", `Theirs (${who})`, theirs === null ? h("em", {}, base === null ? "absent" : "removed") : reading(theirs)),
    side("mine", "Yours", value(mine, edit.input)),
    inTheWay);
  set.pick = (side) => {
    set.value = side;
    set.element.querySelector(`[value="${side}"]`).checked = true;
  };
  return set;
}
