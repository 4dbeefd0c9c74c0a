// What is shown around a preview. Whatever comes from the frame is shown as text.

const kinds = { generate: "The stack's module failed", build: "The app cannot be built", app: "The app failed", hang: "The app stopped responding", left: "The preview does not follow links" };

// What is said of these in words that the app chose: they are never the page's own, and lead nowhere.
const ofApp = ["app", "left"];

// element makes an element; children are elements and texts.
export function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) value === true ? e.setAttribute(key, "") : value !== false && e.setAttribute(key, value);
  e.append(...children);
  return e;
}

// button makes a small button.
export function button(text, act) {
  const e = element("button", { type: "button", class: "button small" }, text);
  e.addEventListener("click", act);
  return e;
}

// plain writes out characters that are invisible, or that turn the text around them.
const plain = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

const short = (digest) => element("code", { title: digest }, digest.slice(0, 12));

// failure fills a box with a failure, or hides it. href is the address of the file that
// failed, and action an element with what can be done about it.
export function failure(box, f) {
  box.hidden = !f;
  if (!f) return box.replaceChildren();
  const file = f.file ? element("code", {}, plain(f.file) + (f.line ? ":" + f.line : "")) : "";
  const place = f.href && !ofApp.includes(f.kind) ? element("a", { href: f.href }, file) : file;
  box.replaceChildren(
    element("p", {}, element("strong", {}, kinds[f.kind] ?? "The preview failed"), place ? " in " : "", place),
    ...(ofApp.includes(f.kind) ? [element("p", { class: "help" }, "The app says:")] : []),
    element("pre", {}, plain(f.message)),
    ...(f.hint ? [element("p", { class: "help" }, plain(f.hint))] : []),
    ...(f.action ? [element("p", { class: "actions" }, f.action)] : []),
    ...(f.trace ? [element("details", {}, element("summary", {}, "Stack trace"), element("pre", {}, plain(f.trace)))] : []),
  );
}

// facts shows what the preview is made from.
export function facts(box, { stack, revision, draft, tree }) {
  box.replaceChildren(
    element("span", {}, "Stack ", element("strong", {}, `${stack.name ?? ""} ${stack.version ?? ""}`), " ", short(stack.digest ?? "")),
    element("span", {}, "Config ", draft ? element("strong", {}, "draft") : short(revision), draft ? [" of "] : "", draft ? short(revision) : ""),
    element("span", {}, "Base files ", short(tree)),
  );
}

// changed says how many generated files an edit changes; c is null if that is not known.
export function changed(c, all) {
  if (!c) return "The saved config cannot be generated: all generated files are new.";
  return `This edit changes ${c.count === 0 ? "none" : c.count} of ${all} generated ${all === 1 ? "file" : "files"}`;
}

// changes shows which generated files an edit changes.
export function changes(box, c, all) {
  box.hidden = !c || c.count === 0;
  if (box.hidden) return box.replaceChildren();
  const open = box.querySelector("details")?.open ?? false;
  box.replaceChildren(element("details", { open },
    element("summary", {}, changed(c, all)),
    ...c.files.map((f) => element("section", {},
      element("h3", {}, element("code", {}, plain(f.path)), ` ${f.change}`),
      element("pre", { class: "difference", tabindex: "0", role: "group", "aria-label": `Difference of ${plain(f.path)}` }, ...f.lines.map(line)))),
    ...(c.count > c.files.length ? [element("p", { class: "subdued" }, `and ${c.count - c.files.length} more`)] : []),
  ));
}

function line([sign, text]) {
  const name = { "+": "ins", "-": "del" }[sign] ?? "span";
  return element(name, {}, `${sign} ${plain(text)}\n`);
}

// said lists what update n says: what the stack's module and the app print, and the notes of the module. A
// note's key leads to it where ref names the project that has an editor.
export function said(box, n, all, ref) {
  const list = box.querySelector("ul");
  const key = (at) => (ref ? element("a", { href: `/${ref}#key=${encodeURIComponent(at)}` }, plain(at)) : plain(at));
  const items = all.map(({ level, at, text }) => element("li", { class: level }, ...(at ? [key(at), ": "] : []), plain(text)));
  list.replaceChildren(...(box.dataset.update === String(n) ? list.children : []), ...items);
  box.dataset.update = n;
  box.hidden = list.children.length === 0;
}

// menu offers the previews, by group, below the app itself.
export function menu(select, previews) {
  const chosen = select.value;
  const groups = new Map();
  for (const { name, group } of previews) groups.set(group, [...(groups.get(group) ?? []), name]);
  const options = (names) => names.map((name) => element("option", { value: name, selected: name === chosen }, plain(name)));
  select.replaceChildren(element("option", { value: "" }, "The app"),
    ...[...groups].flatMap(([group, names]) => (group ? [element("optgroup", { label: plain(group) }, ...options(names))] : options(names))));
  select.closest("label").hidden = previews.length === 0;
}
