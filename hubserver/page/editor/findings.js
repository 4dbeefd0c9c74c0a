// findings.js has what the stack's schema does not allow, as the hub finds it: a dry run of the save, a
// moment after the last key. What is found of one value is never shown of a newer one.

import { computed, effect, signal } from "@preact/signals";
import { base, changes, dirty, edits, problems, textOf } from "./draft.js";
import { writePatch } from "./edits.js";
import { HubError, dryRun, page } from "./hub.js";
import { joinKey } from "./keys.js";

// pause is how long after the last key the hub is asked, in milliseconds.
const pause = 300;

// found are the findings: {key, path, text, sentence}. path leads from the key's value to the part that
// the finding is about; text is the value that the hub saw.
const found = signal([]);

// blocked says why the hub would refuse the edits as they are, "" if it would not.
export const blocked = signal("");

const cells = new Map(); // from keys to a signal of their findings
const byKey = computed(() => Map.groupBy(found.value, (f) => f.key));

// findingOf returns the sentence about the value of a key with this text, or with a path about a part of
// it; "" for none.
export function findingOf(key, text, path) {
  if (!cells.has(key))
    cells.set(
      key,
      computed(() => byKey.value.get(key)),
    );
  const of = cells
    .get(key)
    .value?.find((f) => f.text === text && (path === undefined || f.path.join("/") === path.join("/")));
  return of?.sentence ?? "";
}

// present lists the findings about values as they are now.
export const present = computed(() => found.value.filter((f) => f.text === textOf(f.key)));

// show takes findings of the hub about the present config.
export function show(findings) {
  if (findings.length === 0 && found.peek().length === 0) return;
  found.value = findings.flatMap((f) =>
    pointersOf(f).map((pointer) => {
      const { key, path } = placeOf(pointer);
      return { key, path, text: textOf(key), sentence: sentence(f) };
    }),
  );
}

// pointersOf returns where a finding is shown: what is missing, at its own key.
const pointersOf = ({ pointer, keyword, want }) =>
  keyword !== "required" || !Array.isArray(want)
    ? [pointer]
    : want.map((name) => `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);

// placeOf returns the key whose value a pointer into a PATCH or into the settings leads to.
function placeOf(pointer) {
  const names = pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (names[0] === "set") return { key: names[1] ?? "", path: names.slice(2) };
  for (let n = names.length; n > 0; n--) {
    const key = joinKey(names.slice(0, n));
    if (textOf(key) !== undefined) return { key, path: names.slice(n) };
  }
  return { key: joinKey(names), path: [] };
}

// sentences says what a keyword of the schema wants, and what it got.
const sentences = {
  maxLength: (want, got) => `At most ${want} characters; this has ${got}.`,
  minLength: (want, got) => `At least ${want} characters; this has ${got}.`,
  maxItems: (want, got) => `At most ${want} elements; this has ${got}.`,
  minItems: (want, got) => `At least ${want} elements; this has ${got}.`,
  maximum: (want, got) => `At most ${want}; this is ${got}.`,
  minimum: (want, got) => `At least ${want}; this is ${got}.`,
  exclusiveMaximum: (want, got) => `Less than ${want}; this is ${got}.`,
  exclusiveMinimum: (want, got) => `More than ${want}; this is ${got}.`,
  multipleOf: (want, got) => `A multiple of ${want}; this is ${got}.`,
  required: () => "This is required.",
};

// sentence says a finding in one sentence; in the hub's words where there are no others for its keyword.
function sentence({ keyword, want, got, detail }) {
  const known = sentences[keyword];
  if (known && want !== undefined && (got !== undefined || keyword === "required")) return known(want, got);
  return /[.!?]$/.test(detail) ? detail : `${detail[0].toUpperCase()}${detail.slice(1)}.`;
}

let abort = new AbortController();
let timer;

// check asks the hub about the edits as they are. Where it does not say, what it found before stays.
export async function check() {
  clearTimeout(timer);
  abort.abort();
  abort = new AbortController();
  const { signal } = abort;
  if (!dirty.peek() || problems.peek().size > 0) return;
  try {
    const { findings } = await dryRun(writePatch(changes.peek(), edits.peek()), base.peek().revision, signal);
    if (signal.aborted) return;
    show(findings);
  } catch (error) {
    if (!(error instanceof HubError) || signal.aborted) return;
    if (error.status === 422) show(error.errors);
    if (error.code === "settings_invalid")
      blocked.value = "The project’s schema is enforced. Mend this before you save:";
    else if ([403, 422].includes(error.status)) blocked.value = error.message;
  }
}

// watch checks edits a moment after each, and forgets what was found of those before.
export function watch() {
  if (page.readOnly) return;
  effect(() => {
    edits.value;
    blocked.value = "";
    abort.abort();
    clearTimeout(timer);
    timer = setTimeout(check, pause);
  });
}
