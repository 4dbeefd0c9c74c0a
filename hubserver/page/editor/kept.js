// kept.js keeps unsaved edits in the tab's session storage, bound to the revision that they were made on
// and to the user who made them, and publishes the edited config to those that show it: the preview, on
// the same page or on another one of the same project. It works without the editor's other scripts.

import { apply, readConfig, writeConfig } from "./edits.js";

// delay is how long nothing must have been typed before other tabs hear of it, in milliseconds.
const delay = 100;

// viewer is who looks at this page. A draft is never shown to somebody else.
const viewer = () => document.querySelector("[data-user]")?.dataset.user ?? "";

const draftOf = (project, user) => `hub.draft ${project} ${user}`;
const saveOf = (project, user) => `hub.saved ${project} ${user}`;

// read returns what is stored under a name, null if there is nothing that can be read.
export function read(name, storage) {
  try {
    return JSON.parse(storage.getItem(name));
  } catch {
    return null;
  }
}

// put stores a value, or removes it if it is null. It returns false if the browser does not store it.
export function put(name, value, storage) {
  try {
    if (value === null) storage.removeItem(name);
    else storage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false; // it is full, or storage is turned off
  }
}

// store keeps a draft for this tab, {revision, edits: Map}; without edits it is removed.
export function store(project, draft, user = viewer(), storage = sessionStorage) {
  return put(draftOf(project, user), draft.edits.size === 0 ? null : { ...draft, edits: [...draft.edits] }, storage);
}

// load returns the draft that this tab keeps of a user, null if there is none.
export function load(project, user = viewer(), storage = sessionStorage) {
  const draft = read(draftOf(project, user), storage);
  return Array.isArray(draft?.edits)
    ? { ...draft, edits: new Map(draft.edits.filter(Array.isArray).filter(isEdit)) }
    : null;
}

const isEdit = ([key, edit = {}]) =>
  typeof key === "string" &&
  (edit.base === null || typeof edit.base === "string") &&
  (edit.removed === true || (typeof edit.type === "string" && typeof edit.input === "string"));

// rememberSave keeps the changes that a save made and the revision that came of it, for an undo.
export const rememberSave = (project, revision, changes, user = viewer(), storage = sessionStorage) =>
  put(saveOf(project, user), { revision, changes }, storage);

// lastSave returns the changes of the last save of this tab if revision came of it, null otherwise.
export function lastSave(project, revision, user = viewer(), storage = sessionStorage) {
  const saved = read(saveOf(project, user), storage);
  return saved?.revision === revision && Array.isArray(saved.changes) ? saved.changes : null;
}

const here = new Map(); // from projects to what makes the state that was published last on this page
const subscribers = new Set(); // on this page: {project, notify}
const channels = new Map(); // by project
let timer;

const channelOf = (project) => new BroadcastChannel(`hub.config ${project} ${viewer()}`);

// publish tells what an edited config is: those on this page at once, other tabs once nothing is typed
// for a while. make returns {revision, dirty, config}; it is called if somebody listens.
export function publish(project, make) {
  here.set(project, make);
  for (const { project: ref, notify } of subscribers) if (ref === project) notify(make());
  if (!channels.has(project)) {
    const channel = channelOf(project);
    channel.onmessage = ({ data }) => data === "ask" && channel.postMessage(here.get(project)());
    channels.set(project, channel);
  }
  clearTimeout(timer);
  timer = setTimeout(() => channels.get(project).postMessage(here.get(project)()), delay);
}

// subscribe calls notify with each edited config of a project, such as "@acme/web": {revision, dirty,
// config}, where revision is that of the base, dirty says whether the config differs from it, and config
// is the whole flat config as canonical JSON. The present one, if there is an editor, is passed at once.
// An editor on the same page is followed; without one, that of another tab. It returns a function that
// ends the subscription.
export function subscribe(project, notify) {
  if (here.has(project)) {
    const subscriber = { project, notify };
    subscribers.add(subscriber);
    notify(here.get(project)());
    return () => subscribers.delete(subscriber);
  }
  const channel = channelOf(project);
  channel.onmessage = ({ data }) => data !== "ask" && notify(data);
  channel.postMessage("ask");
  return () => channel.close();
}

// edited returns a config, {revision, config} with config as JSON, with the edits that this tab keeps for
// that revision, as subscribe passes it: for a page without an editor.
export function edited(project, { revision, config }, user = viewer(), storage = sessionStorage) {
  const draft = load(project, user, storage);
  const values = readConfig(config);
  const dirty = draft?.revision === revision && draft.edits.size > 0;
  return { revision, dirty, config: writeConfig(dirty ? apply(values, draft.edits) : values) };
}
