// references.js says which parts of the bound API enrichments can refer to, and marks those
// that it does not have.

import { h, newID } from "./dom.js";
import { Targets, isEnrichment, isReference, root } from "./enrichments.js";
import { targets } from "./hub.js";
import { unquote } from "./json.js";
import { joinKey, splitKey } from "./keys.js";

// References knows nothing until it was read: then marks are "".
export class References {
  #targets = null;

  constructor(api) {
    this.api = api;
    this.datalist = h("datalist", { id: newID() });
  }

  // read asks the hub, and returns whether the viewer may know.
  async read() {
    const known = await targets(this.api);
    if (!known) return false;
    this.#targets = new Targets(known);
    this.datalist.replaceChildren(...this.#targets.suggestions.slice(0, 500).map((name) => h("option", { value: name })));
    return true;
  }

  // mark returns what is wrong with a key that refers to a part of the API.
  mark(key, text) {
    if (!this.#targets || !isEnrichment(key)) return "";
    const path = splitKey(key);
    return path.length === 3 ? this.markMember(path.slice(2), text) : "";
  }

  // markMember is mark for a member of a record.
  markMember(path, text) {
    if (!this.#targets || !isReference(path) || text?.[0] !== '"' || this.#targets.has(unquote(text))) return "";
    return this.#absent();
  }

  // markRecord returns what is wrong with the name of a record that is to name a part of
  // the API itself, since none of its members, which are among keys, does.
  markRecord(name, keys) {
    if (!this.#targets) return "";
    const prefix = joinKey([root, name]) + ".";
    const members = keys.filter((key) => key.startsWith(prefix)).map((key) => splitKey(key).slice(2));
    if (members.length === 0 || members.some((path) => path.length > 1 || isReference(path)) || this.#targets.has(name)) return "";
    return this.#absent();
  }

  #absent() {
    return `${this.api} has no such operation, schema or property.`;
  }

  // suggest returns the id of the list of targets for a key that is to hold one.
  suggest(key) {
    const path = isEnrichment(key) ? splitKey(key) : [];
    return path.length === 3 && isReference(path.slice(2)) ? this.datalist.id : undefined;
  }
}
