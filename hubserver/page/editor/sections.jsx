// sections.jsx divides the keys into sections, finds those that a filter asks for, and shows both.

import { computed, effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { about, base, edits, field, keys, problems, schema, targets, unset } from "./draft.js";
import { present } from "./findings.js";
import { Field, Row } from "./field.jsx";
import { page } from "./hub.js";
import { Items, coverage, isItems } from "./items.jsx";
import { firstSegment, shown } from "./keys.js";
import { root } from "./references.js";

export const query = signal("");
export const changedOnly = signal(false);

const title = (text) => (text === "" ? "Top level" : shown(text));
const capital = (text) => shown(text.charAt(0).toUpperCase() + text.slice(1));

// sections lists {kind, name, title, help, keys} in the order in which they are shown: what the schema
// names by its first segment, each list of records, and then the rows of the other keys.
const sections = computed(() => {
  const open = page.readOnly ? [] : unset.value;
  const offered = targets.value && !page.readOnly && !keys.value.some((k) => firstSegment(k) === root) ? [root] : [];
  const order = new Map((schema.value?.keys() ?? []).map((key, i) => [key, i]));
  const groups = new Map();
  const put = (kind, name, key, more) => {
    const id = `${kind} ${name}`;
    if (!groups.has(id)) groups.set(id, { kind, name, id, keys: [], ...more });
    groups.get(id).keys.push(key);
  };
  const named = [...new Set([...keys.value, ...open, ...offered])];
  named.sort((a, b) => (order.get(a) ?? Infinity) - (order.get(b) ?? Infinity) || 0);
  for (const key of named) {
    const segment = firstSegment(key) === key ? "" : firstSegment(key);
    if (isItems(key, base.value.values.get(key))) {
      const { title: own, description: help } = about(key) ?? {};
      put("items", key, key, { title: own ?? capital(key), help });
    } else if (order.has(key)) {
      const { title: own, description: help } = about(segment) ?? {};
      const name = segment === "" ? "General" : own ?? capital(segment);
      put("fields", segment, key, { title: name, help: segment && help });
    } else {
      put("rows", segment, key, { title: title(segment) });
    }
  }
  const rank = { fields: 0, items: 1, rows: 2 };
  return [...groups.values()].sort((a, b) => rank[a.kind] - rank[b.kind]);
});

// listed are the keys in the order of the sections.
export const listed = computed(() => sections.value.flatMap((s) => s.keys));

// total is how many keys the config has, with those that are added.
export const total = computed(() => keys.value.length);

// What is searched of each key is prepared once, so that a search of 10,000 keys takes a few milliseconds.
const fold = (key, text) => `${key}\n${about(key)?.title ?? ""}\n${text}`.toLowerCase();
const folded = computed(() => new Map([...base.value.values].map(([key, text]) => [key, fold(key, text)])));

// found is the Set of the keys that the filter asks for, by words in the key, its title or its value; null
// without a filter.
export const found = computed(() => {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && !changedOnly.value) return null;
  const typed = new Map([...edits.value].map(([key, edit]) => [key, fold(key, `${edit.base} ${edit.input ?? ""}`)]));
  const of = (key) => typed.get(key) ?? folded.value.get(key) ?? fold(key, "");
  const all = changedOnly.value ? [...edits.value.keys()] : listed.value;
  return new Set(all.filter((key) => words.every((word) => of(key).includes(word))));
});

const shownSections = computed(() => {
  const only = found.value;
  if (!only) return sections.value;
  const part = (s) => ({ ...s, keys: s.keys.filter((k) => only.has(k)) });
  return sections.value.map(part).filter((s) => s.keys.length > 0);
});

// limit is how many rows are in the document: more follow as they are scrolled or tabbed to.
const step = 60;
const limit = signal(step);
const rows = computed(() => shownSections.value.filter((s) => s.kind === "rows").flatMap((s) => s.keys));

effect(() => {
  query.value;
  changedOnly.value;
  limit.value = step;
});

// showAll ends the filter, and has the row of a key in the document.
export function showAll(key) {
  query.value = "";
  changedOnly.value = false;
  limit.value = Math.max(limit.peek(), rows.peek().indexOf(key) + step);
}

// More is below the rows, and has more of them follow once it is near the window.
function More() {
  const end = useRef(null);
  useEffect(() => {
    const near = ([{ isIntersecting }]) => isIntersecting && (limit.value += step);
    const observer = new IntersectionObserver(near, { rootMargin: "1500px" });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [limit.value]);
  return <div ref={end} class="more" />;
}

// changed and wrong are the ids of the sections that have changes, and findings.
const idOf = computed(() => new Map(sections.value.flatMap((s) => s.keys.map((key) => [key, s.id]))));
const idsOf = (all) => new Set(all.map((key) => idOf.value.get(key)));
const changed = computed(() => idsOf([...edits.value.keys()]));
const wrong = computed(() => idsOf([...present.value.map((f) => f.key), ...problems.value.keys()]));

function Dot({ section: { id } }) {
  if (wrong.value.has(id)) return <span class="dot bad"><span class="unseen">has findings</span></span>;
  return changed.value.has(id) && <span class="dot"><span class="unseen">changed</span></span>;
}

// mostLinks is how many sections of other keys have a link of their own.
const mostLinks = 100;

const anchor = (section) => `section-${section.kind}-${encodeURIComponent(section.name)}`;

// current is the section that is at the top of the window.
const current = signal("");

function useCurrent() {
  useEffect(() => {
    const look = () => {
      const all = [...document.querySelectorAll("#editor [data-section]")];
      const above = all.filter((e) => e.getBoundingClientRect().top < 160);
      current.value = (above.at(-1) ?? all[0])?.id ?? "";
    };
    look();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, [shownSections.value]);
}

const Link = ({ section }) => (
  <a href={`#${anchor(section)}`} aria-current={current.value === anchor(section) ? "true" : undefined}>
    <span>{section.title}</span>
    <Dot section={section} />
    <small>{section.kind === "items" ? coverage(section.name) : section.keys.length.toLocaleString("en")}</small>
  </a>
);

// Navigation leads to the sections.
export function Navigation() {
  useCurrent();
  const named = shownSections.value.filter((s) => s.kind !== "rows");
  const others = shownSections.value.filter((s) => s.kind === "rows");
  return (
    <nav class="nav" aria-label="Sections">
      {named.length > 0 && <h2>Settings</h2>}
      {named.map((s) => <Link key={s.id} section={s} />)}
      {others.length > 0 && <h2>{named.length > 0 ? "Other keys" : "Keys"}</h2>}
      {others.slice(0, mostLinks).map((s) => <Link key={s.id} section={s} />)}
    </nav>
  );
}

function Section({ section }) {
  const id = anchor(section);
  return (
    <section id={id} data-section={section.kind} aria-labelledby={`${id}-title`}>
      <header>
        <h2 id={`${id}-title`}>{section.title}</h2>
        {typeof section.help === "string" && <p dir="auto">{shown(section.help)}</p>}
      </header>
      {section.kind === "items" && <ItemsOrField k={section.name} />}
      {section.kind === "fields" && section.keys.map((key) => <Field key={key} k={key} />)}
    </section>
  );
}

// ItemsOrField shows records as such while they are some.
function ItemsOrField({ k }) {
  const f = field(k);
  return isItems(k, f.text ?? f.input) && f.state !== "removed" ? <Items k={k} /> : <Field k={k} />;
}

function OtherKeys({ sections: others, alone }) {
  let left = limit.value;
  return (
    <section aria-label="Other keys">
      {!alone && (
        <header>
          <h2>Other keys</h2>
          <p>{schema.value ? "The stack’s schema does not name them." : "The stack has no schema."}</p>
        </header>
      )}
      {others.map((section) => {
        const part = section.keys.slice(0, Math.max(0, left));
        left -= part.length;
        return (
          <ul key={section.id} id={anchor(section)} data-section="rows" class="rows" aria-label={section.title}>
            {part.map((key) => <Row key={key} k={key} />)}
          </ul>
        );
      })}
      {rows.value.length > limit.value && <More />}
    </section>
  );
}

// Sections are the keys that the filter leaves.
export function Sections() {
  const named = shownSections.value.filter((s) => s.kind !== "rows");
  const others = shownSections.value.filter((s) => s.kind === "rows");
  if (shownSections.value.length === 0) return <Empty />;
  return (
    <>
      {named.map((s) => <Section key={s.id} section={s} />)}
      {others.length > 0 && <OtherKeys sections={others} alone={named.length === 0} />}
    </>
  );
}

const Empty = () => (
  <div class="empty">
    <h2>{found.value ? "No key matches" : "The config is empty"}</h2>
    {found.value && <p>Filter by a part of a key or of a value.</p>}
    {!found.value && page.readOnly && <p>People who may write to the project can add keys.</p>}
    {!found.value && !page.readOnly && <p>Add a key here, or push a local project to fill it.</p>}
  </div>
);
