// draft.js keeps unsaved edits in the tab's session storage, bound to the revision that
// they were made on, and publishes the edited config to those that show it.
//
// subscribe is for the preview, on the same page or on another one of the same project:
// it works without the editor's other scripts.

import { Model, readConfig, writeConfig } from "./model.js";

const storedName = (project) => `hub.draft ${project}`;
const channelName = (project) => `hub.config ${project}`;

// delay is how long nothing must have been typed before the draft is published, in
// milliseconds.
const delay = 100;

// store keeps a draft for this tab, {revision, user, edits: Map}; without edits it is
// removed. It returns false if the browser does not store it.
export function store(project, draft, storage = sessionStorage) {
  try {
    if (draft.edits.size === 0) storage.removeItem(storedName(project));
    else storage.setItem(storedName(project), JSON.stringify({ ...draft, edits: [...draft.edits] }));
    return true;
  } catch {
    return false; // it is full, or storage is turned off
  }
}

// load returns the draft that this tab keeps, null if there is none that can be read.
export function load(project, storage = sessionStorage) {
  try {
    const draft = JSON.parse(storage.getItem(storedName(project)));
    return draft && { ...draft, edits: new Map(draft.edits.filter(isEdit)) };
  } catch {
    return null;
  }
}

const isEdit = ([key, edit]) =>
  typeof key === "string" && (edit.base === null || typeof edit.base === "string") &&
  (edit.removed === true || (typeof edit.type === "string" && typeof edit.input === "string"));

// Publisher publishes the config as it is edited, delay milliseconds after the last change.
export class Publisher {
  #timer;
  #make = null;
  #latest;

  constructor(project) {
    this.project = project;
    this.channel = new BroadcastChannel(channelName(project));
    this.channel.onmessage = ({ data }) => data === "ask" && this.#latest && this.channel.postMessage(this.#latest);
    local.add(this);
  }

  // publish takes {revision, dirty, config}; config is the flat config as canonical JSON.
  // make is called once nothing has changed for a while.
  publish(make) {
    clearTimeout(this.#timer);
    this.#make = make;
    this.#timer = setTimeout(() => this.flush(), delay);
  }

  // flush publishes at once what waits to be.
  flush() {
    clearTimeout(this.#timer);
    if (!this.#make) return;
    this.#latest = this.#make();
    this.#make = null;
    this.channel.postMessage(this.#latest);
    for (const { project, notify } of subscribers) if (project === this.project) notify(this.#latest);
  }

  get latest() {
    return this.#latest;
  }
}

const local = new Set(); // publishers on this page
const subscribers = new Set(); // on this page

// subscribe calls notify with each edited config of a project, such as "@acme/web":
// {revision, dirty, config}, where revision is that of the base, dirty says whether the
// config differs from it, and config is the whole flat config as canonical JSON. The
// present one, if there is an editor, is passed at once. An editor on the same page is
// followed; without one, that of another tab. It returns a function that ends the
// subscription.
export function subscribe(project, notify) {
  const here = [...local].find((p) => p.project === project);
  if (here) {
    const subscriber = { project, notify };
    subscribers.add(subscriber);
    if (here.latest) notify(here.latest);
    return () => subscribers.delete(subscriber);
  }
  const channel = new BroadcastChannel(channelName(project));
  channel.onmessage = ({ data }) => data !== "ask" && notify(data);
  channel.postMessage("ask");
  return () => channel.close();
}

// edited returns a config, {revision, config} with config as JSON, with the edits that
// this tab keeps for that revision, as subscribe passes it: for a page without an editor.
export function edited(project, { revision, config }, storage = sessionStorage) {
  const draft = load(project, storage);
  const model = new Model({ revision, values: readConfig(config) });
  if (draft?.revision === revision) model.rebase(model.base, draft.edits);
  return { revision, dirty: model.dirty, config: writeConfig(model.values()) };
}
