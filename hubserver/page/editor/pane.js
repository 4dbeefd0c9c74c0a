// pane.js is the preview beside the editor. Its scripts, and what it shows, are fetched
// when it is first shown.

import { button, h } from "./dom.js";
import { shown } from "./keys.js";

// stored is the name under which this browser remembers whether the pane is open.
const stored = "hub.preview";

// wide is where there is room for the pane beside the editor; elsewhere it is below, and
// closed until somebody asks for it.
const wide = matchMedia("(min-width: 64rem)");

// Pane shows and hides root, the element of the page for the preview. settle is called
// before the preview is compared with what is about to be saved.
export class Pane {
  constructor(root, settle) {
    Object.assign(this, { root, settle });
    this.toggle = button("Live preview", () => (this.isOpen ? this.close() : this.open()), { "aria-expanded": "false", "aria-controls": root.id });
    this.heading = root.querySelector("h2");
    root.querySelector(".actions").append(button("Close", () => this.close(), { class: "button quiet small", "aria-label": "Close the preview" }));
    root.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
  }

  get isOpen() {
    return !this.root.hidden;
  }

  // restore opens the pane if it was open when this browser last showed an editor.
  restore() {
    if (wide.matches && remembered()) this.#show();
  }

  open() {
    remember(true);
    this.#show();
    if (wide.matches) return;
    this.heading.focus({ preventScroll: true });
    this.root.scrollIntoView({ block: "start" });
  }

  close() {
    remember(false);
    this.root.hidden = true;
    this.#follow();
    this.toggle.focus();
  }

  #show() {
    this.root.hidden = false;
    this.#follow();
    if (this.root.dataset.frame) this.preview ??= this.#start();
  }

  #follow() {
    this.toggle.setAttribute("aria-expanded", String(this.isOpen));
    this.root.parentElement.classList.toggle("divided", this.isOpen);
  }

  async #start() {
    this.root.dataset.state = "loading";
    try {
      const [{ Preview }, view] = await Promise.all([import("../preview/page/preview.js"), import("../static/preview/view.js")]);
      const preview = new Preview(this.root);
      await preview.start();
      return { preview, view };
    } catch {
      this.preview = undefined; // showing it again tries again
      this.root.dataset.state = "failed";
      const notice = this.root.querySelector(".stage > .notice");
      notice.hidden = false;
      notice.textContent = "The preview did not load. Close it and open it again to retry.";
      return null;
    }
  }

  // difference returns an element that says which generated files the edits change, and a
  // function that ends its updates. Where the preview was not shown yet, it offers that.
  // There is none where there is no preview.
  difference() {
    if (!this.root.dataset.frame) return { element: null, end: () => {} };
    const element = h("section", { class: "generated", "aria-label": "Generated files" });
    const fill = async () => {
      this.settle();
      element.replaceChildren(h("p", { class: "loading", role: "status" }, "Generating the files…"));
      const loaded = await this.preview;
      show = () => element.replaceChildren(...(loaded ? about(loaded.preview.output, loaded.view) : [h("p", { class: "advice" }, "The preview did not load.")]));
      show();
    };
    let show = () => {};
    const update = () => show();
    this.root.addEventListener("output", update);
    if (this.preview) fill();
    else {
      element.append(button("Compare the generated files", () => {
        this.#show();
        fill();
      }, { class: "button small" }));
    }
    return { element, end: () => this.root.removeEventListener("output", update) };
  }
}

// about says what an output of the preview means for what is about to be saved.
function about(output, view) {
  if (!output) return [h("p", { class: "loading", role: "status" }, "Generating the files…")];
  if (output.failure) return [h("p", { class: "advice", role: "status" }, `${output.kind ? "With this edit the preview fails" : "The preview is not available"}: ${shown(output.failure)}`)];
  const box = h("div", { class: "changes" });
  view.changes(box, output.changes, output.count);
  return box.hidden ? [h("p", { class: "help", role: "status" }, `${view.changed(output.changes, output.count)}.`)] : [box];
}

function remembered() {
  try {
    return localStorage.getItem(stored) === "open";
  } catch {
    return false; // storage is turned off
  }
}

function remember(isOpen) {
  try {
    if (isOpen) localStorage.setItem(stored, "open");
    else localStorage.removeItem(stored);
  } catch {
    // it is closed the next time
  }
}
