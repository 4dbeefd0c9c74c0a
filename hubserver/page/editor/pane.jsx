// pane.jsx is the preview beside the editor, and what it says in a review. Its scripts, and what it shows,
// are fetched when it is first shown.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { put, read } from "./kept.js";
import { shown } from "./keys.js";
import { Icon } from "./widgets.jsx";

// stored is the name under which this browser remembers that somebody closed the pane, or opened it where
// there is no room for it.
const stored = "hub.preview";

// wide is where the pane fits beside the editor: there it is open unless somebody closed it. Elsewhere it
// is below, and closed until somebody asks for it.
const wide = matchMedia("(min-width: 75rem)");

const root = document.getElementById("preview");
const open = signal(false);
const shows = signal(null); // {output, view}, once the preview is loaded; {} after a failure

// startPane opens the pane where it is to be open at first.
export function startPane() {
  const close = Object.assign(document.createElement("button"), { type: "button", className: "button quiet" });
  close.textContent = "Close";
  close.ariaLabel = "Close the preview";
  close.addEventListener("click", () => turn(false));
  root.querySelector("header").append(close);
  root.addEventListener("keydown", (event) => event.key === "Escape" && turn(false));
  if (root.dataset.frame && wide.matches && read(stored, localStorage) !== "closed") display(true);
}

function turn(is) {
  put(stored, is ? "open" : "closed", localStorage);
  display(is);
  if (!is) return document.querySelector("#editor [aria-controls=preview]").focus();
  if (wide.matches) return undefined;
  root.querySelector("h2").focus({ preventScroll: true });
  return root.scrollIntoView({ block: "start" });
}

function display(is) {
  open.value = is;
  root.hidden = !is;
  root.parentElement.classList.toggle("divided", is);
  if (is && root.dataset.frame) load();
}

async function load() {
  if (shows.peek()?.output) return;
  shows.value = null;
  try {
    const [{ Preview }, view] = await Promise.all([
      import("../preview/page/preview.js"), import("../static/preview/view.js"),
    ]);
    const preview = new Preview(root);
    const output = signal(null);
    root.addEventListener("output", () => { output.value = preview.output; });
    await preview.start();
    output.value = preview.output;
    shows.value = { output, view };
  } catch {
    shows.value = {}; // showing it again tries again
    root.dataset.state = "failed";
  }
}

// Toggle is the button that shows and hides the pane.
export const Toggle = () => (
  <button type="button" class="button" aria-expanded={open.value} aria-controls="preview"
    onClick={() => turn(!open.value)}>
    <Icon name="eye" /><span>Live preview</span>
  </button>
);

// Generated says which generated files the edits change. Where the preview was not shown yet, it offers
// that. It is nothing where there is no preview.
export function Generated() {
  if (!root.dataset.frame) return null;
  return (
    <section class="generated" aria-label="Generated files">
      {open.value || shows.value ? <Output /> : (
        <button type="button" class="button" onClick={() => display(true)}>Compare the generated files</button>
      )}
    </section>
  );
}

function Output() {
  if (shows.value && !shows.value.output) return <p class="advice">The preview did not load.</p>;
  const output = shows.value?.output.value;
  if (!output) return <p class="loading" role="status">Generating the files…</p>;
  if (output.failure) {
    const what = output.kind ? "With this edit the preview fails" : "The preview is not available";
    return <p class="advice" role="status">{what}: {shown(output.failure)}</p>;
  }
  return <Files view={shows.value.view} {...output} />;
}

// Files shows how the generated files differ, as the preview does.
function Files({ view, changes, count }) {
  const box = useRef();
  useLayoutEffect(() => view.changes(box.current, changes, count), [changes, count]);
  const differs = changes && changes.count > 0;
  return (
    <>
      {!differs && <p class="help" role="status">{view.changed(changes, count)}.</p>}
      <div class="changes" ref={box} />
    </>
  );
}
