// editor.js turns the Config tab into an editor: it connects the model, the list, the
// hub, its events and the draft. Without JavaScript the page shows the config alone.

import { Adding } from "./adding.js";
import { address, follow, nearest } from "./address.js";
import { Bar } from "./bar.js";
import { Notices } from "./notices.js";
import { Pane } from "./pane.js";
import { choose, review } from "./dialog.js";
import { h, plural } from "./dom.js";
import { counts, difference } from "./difference.js";
import { Publisher, load, store } from "./draft.js";
import { root } from "./enrichments.js";
import { Hub, HubError, settingsSchema } from "./hub.js";
import { joinKey, parents, shown } from "./keys.js";
import { List } from "./list.js";
import { warn } from "./leave.js";
import { listen } from "./live.js";
import { merge, remaining, resolve } from "./merge.js";
import { Model, undoing, writeConfig, writePatch } from "./model.js";
import { Records } from "./records.js";
import { References } from "./references.js";
import { LastSave } from "./saved.js";
import { Schema } from "./schema.js";
import { Index } from "./search.js";
import { sayWritten, way } from "./written.js";

// attempts is how often a save is repeated on a newer config, when others save at once.
const attempts = 4;

// keeping is how long after a key was pressed the draft is stored, in milliseconds.
const keeping = 100;

class Editor {
  // element is where the editor goes; its data attributes say which project it is and who
  // looks at it.
  constructor(element) {
    this.element = element;
    Object.assign(this, element.dataset); // project, user, api, stack, version, signIn
    this.readOnly = element.dataset.canWrite !== "true";
    this.hub = new Hub(this.project);
    this.findings = new Map(); // from keys to what the hub said about their last save
    this.schema = null;
    this.references = new References(this.api);
  }

  // start shows the config as the hub has it, with this tab's draft.
  async start() {
    const [base, schema] = await Promise.all([this.hub.config(), settingsSchema(this.stack, this.version)]);
    this.schema = readSchema(schema);
    this.model = new Model(base);
    this.index = new Index(base.values);
    this.records = new Records(this.model, this);
    this.list = new List(this.model, this, () => this.records.refresh() && this.records.element);
    this.notices = new Notices();
    this.publisher = new Publisher(this.project);
    this.last = new LastSave(this.project);
    this.pane = new Pane(document.getElementById("preview"), () => this.publisher.flush());
    this.adding = new Adding({ onAdd: (...field) => this.add(...field), about: (key) => this.about(key), unset: () => this.unset() });
    this.bar = new Bar({
      readOnly: this.readOnly, onSearch: () => this.show(), onAdd: () => this.onAdd(""),
      onSave: () => this.save(), toggle: this.pane.toggle, onDiscard: () => this.discard(), onUndo: () => this.undo(),
    });
    this.empty = h("div", { class: "empty", hidden: true });
    const dock = h("div", { class: "dock" }, this.notices.element, this.bar.footer);
    this.element.replaceChildren(this.bar.element, this.adding.element, this.list.element, this.empty, this.references.datalist, dock);
    this.restore();
    this.show();
    this.publish();
    this.listen();
    this.element.dataset.ready = "true";
    performance.mark("editor ready");
    follow(this.project, (key) => this.goTo(key));
    this.pane.restore();
    if (!(await this.references.read())) return;
    this.records.mark();
    this.list.refresh();
  }

  // ---- What rows ask for.

  about(key) {
    return this.schema?.about(key) ?? null;
  }

  aboutMember(path) {
    return this.schema?.member(root, path) ?? null;
  }

  refused(key) {
    return this.findings.get(key) ?? "";
  }

  // ---- What happens in the list.

  onEdit(key) {
    this.findings.delete(key);
    this.index.update(key, this.textOf(key));
    this.list.refresh([key]);
    this.changed();
  }

  // onKeys is onEdit for a key that is added, removed, or no longer so.
  onKeys(key) {
    this.onEdit(key);
    if (this.model.knows(key)) return this.bar.filtered ? undefined : this.show();
    const keys = this.model.keys();
    this.show();
    const next = keys.find((k) => k > key) ?? keys.at(-1);
    if (document.activeElement === document.body) next === undefined ? this.bar.focus() : this.list.row(next).focus();
  }

  onAdd(prefix) {
    this.adding.open(prefix);
  }

  add(key, type, input) {
    const problem = this.model.add(key, type, input);
    if (problem !== "") return problem;
    this.bar.clear();
    this.onEdit(key);
    this.show();
    this.list.reveal(key, this.groups());
    return "";
  }

  textOf(key) {
    if (!this.model.knows(key)) return undefined;
    const field = this.model.field(key);
    return field.text ?? field.input;
  }

  // unset lists the keys that the schema names and the config does not have.
  unset() {
    return this.#listed().unset;
  }

  // groups are the model's, with the keys that the schema names.
  groups() {
    return this.#listed().groups;
  }

  // #listed is computed again only when there are other keys: with many it takes a while.
  #listed() {
    const keys = this.model.keys();
    if (this.listed?.keys !== keys) {
      const above = new Set(keys.flatMap(parents));
      const fits = (key) => !this.model.knows(key) && !above.has(key) && !parents(key).some((p) => this.model.knows(p));
      const unset = this.readOnly || !this.schema ? [] : this.schema.keys().filter(fits);
      this.listed = { keys, unset, groups: this.model.groups(unset) };
    }
    return this.listed;
  }

  // show shows the list as the search restricts it.
  show() {
    let only = this.index.search(this.bar.query);
    if (this.bar.changedOnly) only = new Set([...this.model.edits.keys()].filter((key) => !only || only.has(key)));
    const found = this.list.show(this.groups(), only);
    this.empty.hidden = this.list.element.childElementCount > 0;
    const restricted = only !== undefined;
    this.empty.replaceChildren(h("h2", {}, restricted ? "No key matches" : "The config is empty"),
      h("p", {}, restricted ? "Search for a part of a key or of a value." : this.readOnly ? "People who may write to the project can add keys." : "Add a key here, or push a local project to fill it."));
    this.bar.show({ keys: this.model.keys().length, found: only && found, problems: this.model.problems().length, changes: this.model.dirty ? this.model.changes() : [], edits: this.model.edits.size, saved: this.lastSave() });
  }

  // changed is called after each edit: the bar follows at once, the rest after a pause. A
  // notice that is no longer true goes away.
  changed() {
    if (this.model.problems().length === 0) this.notices.hide("wrong");
    if (this.model.dirty) this.notices.hide("done");
    this.bar.follow({ problems: this.model.problems().length, changes: this.model.changes(), edits: this.model.edits.size, saved: this.lastSave() });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.keep(), keeping);
    this.publish();
  }

  publish() {
    this.publisher.publish(() => ({ revision: this.model.base.revision, dirty: this.model.dirty, config: writeConfig(this.model.values()) }));
  }

  // goTo moves the focus to a key, whatever the list shows, or says that there is none.
  goTo(key) {
    if (this.pending) return;
    this.notices.hide("address");
    const filtered = this.bar.filtered;
    const found = nearest(key, this.groups());
    if (found === undefined) {
      const actions = this.readOnly ? {} : { "Add it": () => this.onAdd(key) };
      return this.notices.show("address", "bad", `The config has no key ${shown(key)}. It was removed, or never set.`, actions);
    }
    this.bar.clear();
    this.show();
    this.list.reveal(found, this.groups());
    const part = key.startsWith(`${found}.`) ? [`${shown(key)} is a part of the value of ${shown(found)}.`] : [];
    const said = [...part, ...(filtered ? [`The search was cleared to show ${shown(found)}.`] : [])].join(" ");
    if (said) this.notices.show("address", "info", said, { Dismiss: () => this.notices.hide("address") });
  }

  // ---- The draft.

  // keep stores the draft in this tab.
  keep() {
    if (this.readOnly || this.pending) return;
    this.kept = store(this.project, { revision: this.model.base.revision, user: this.user, edits: this.model.edits });
    if (!this.kept) this.notices.show("draft", "warning", "This browser does not store the draft: it is lost when the page is left.");
    else this.notices.hide("draft");
  }

  // restore puts the tab's draft into the model. One of another revision or user is not
  // applied before somebody says so.
  restore() {
    const draft = this.readOnly ? null : load(this.project);
    if (!draft || draft.edits.size === 0) return;
    if (draft.revision === this.model.base.revision && draft.user === this.user) {
      this.model.rebase(this.model.base, draft.edits);
      this.indexAgain();
      this.notices.show("restored", "info", `Restored your unsaved changes to ${plural(draft.edits.size, "key")}.`, { Dismiss: () => this.notices.hide("restored") });
      return;
    }
    this.hold(draft);
  }

  // hold keeps a draft until somebody says what to do with it. Nothing can be edited before.
  hold(draft) {
    this.pending = draft;
    const parts = [this.bar.element, this.adding.element, this.list.element];
    for (const part of parts) part.inert = true;
    const why = draft.user === this.user
      ? `This tab has unsaved changes to ${plural(draft.edits.size, "key")}, made before ${this.who(this.model.base)} saved a newer config.`
      : `This tab has changes to ${plural(draft.edits.size, "key")} that ${draft.user || "somebody"} did not save.`;
    const decided = (apply) => async () => {
      if (apply && !(await this.mergeInto(this.model.base, draft.edits))) return;
      this.pending = undefined;
      for (const part of parts) part.inert = false;
      this.notices.hide("restored");
      this.refresh();
      this.bar.focus();
      if (address() !== null) this.goTo(address());
    };
    this.notices.show("restored", "warning", why, { "Apply them here": decided(true), "Discard them": decided(false) });
  }

  discard() {
    const edits = new Map(this.model.edits);
    this.model.rebase(this.model.base, new Map());
    this.findings.clear();
    this.refresh();
    this.notices.show("discarded", "info", `Discarded ${plural(edits.size, "change")}.`, {
      Undo: async () => {
        if (await this.mergeInto(this.model.base, new Map([...edits, ...this.model.edits]))) this.notices.hide("discarded");
      },
      Dismiss: () => this.notices.hide("discarded"),
    });
    this.bar.focus();
  }

  // ---- Saving.

  async save() {
    const wrong = this.model.problems();
    if (wrong.length > 0) return this.point(wrong);
    if (!this.model.dirty || this.saving) return;
    const changes = this.model.changes();
    const generated = this.pane.difference();
    const agreed = await review(changes, { title: "Review and save", text: `on revision ${this.model.base.revision.slice(0, 12)}`, action: "Save", more: generated.element });
    generated.end();
    if (agreed) await this.send("Saved");
  }

  // point leads to the first edit that cannot be saved.
  point(wrong) {
    this.notices.show("wrong", "bad", `${plural(wrong.length, "value")} cannot be saved yet: ${wrong.slice(0, 3).map(shown).join(", ")}${wrong.length > 3 ? " and more" : ""}.`);
    this.bar.clear();
    this.list.reveal(wrong[0], this.groups());
  }

  // send saves the model's edits by one PATCH. When somebody else saved in between, other
  // keys are merged and it is sent again; for the same keys the choice is asked for, and
  // what comes of it is reviewed before it is sent.
  async send(done) {
    const merged = [];
    this.saving = true;
    try {
      for (let i = 0; i < attempts; i++) {
        try {
          return await this.saved(done, merged);
        } catch (error) {
          if (!(error instanceof HubError) || error.status !== 412) return this.failed(error);
        }
        const before = this.model.base;
        const newer = await this.hub.config().catch((error) => this.failed(error));
        if (!newer) return;
        const { conflicts, kept } = merge(this.model.edits, newer.values);
        merged.push(...difference(before.values, newer.values).filter((c) => !this.model.edits.has(c.key)));
        if (conflicts.length > 0) {
          if (await this.mergeInto(newer) && this.model.dirty) {
            this.saving = false;
            await this.save();
          }
          return;
        }
        this.model.rebase(newer, kept);
        this.refresh();
        if (!this.model.dirty) return this.notices.show("saved", "good", `${this.who(newer)} saved the same changes already.`);
      }
      this.notices.show("saved", "bad", "Nothing was saved: others keep saving this config. Your changes are kept in this tab.", { "Try again": () => this.send(done) });
    } finally {
      this.saving = false;
      this.bar.busy(false);
      if (this.again) this.look();
    }
  }

  async saved(done, merged) {
    this.bar.busy(true);
    const { base } = this.model;
    const changes = this.model.changes();
    const values = this.model.values();
    const sent = new Map(this.model.edits);
    const { revision, findings } = await this.hub.patch(writePatch(changes), base.revision);
    const edits = remaining(sent, this.model.edits, base.values, values); // typed meanwhile
    this.model.rebase({ ...base, revision, values, by: this.user, via: "page", at: new Date().toISOString() }, edits);
    sayWritten(this.model.base);
    this.last.remember(revision, changes);
    this.findings = new Map(findings.map(({ pointer, detail }) => [keyAt(pointer), detail]));
    this.refresh();
    const others = merged.length > 0 ? ` Merged with what others saved: ${merged.slice(0, 3).map((c) => shown(c.key)).join(", ")}${merged.length > 3 ? " and more" : ""}.` : "";
    this.notices.hide("saved");
    this.notices.show("done", "good", `${done}: ${counts(changes)}.${others}`, { Undo: () => this.undo(), Dismiss: () => this.notices.hide("done") });
    this.sayFindings(findings);
  }

  // sayFindings says what the stack's schema does not allow of what was saved. It may be
  // about keys that are not in the list, such as the parent of one.
  sayFindings(findings) {
    if (findings.length === 0) return this.notices.hide("findings");
    const first = findings.slice(0, 3).map(({ pointer, detail }) => `${shown(keyAt(pointer))}: ${detail}`).join("; ");
    const more = findings.length > 3 ? `; and ${findings.length - 3} more` : "";
    this.notices.show("findings", "warning", `The stack's schema does not allow ${first}${more}.`, { Dismiss: () => this.notices.hide("findings") });
  }

  // failed says why nothing was saved; the draft stays.
  failed(error) {
    if (!(error instanceof HubError)) throw error;
    this.keep();
    const kept = "Nothing was saved; your changes are kept in this tab.";
    if (error.status === 401) {
        const link = h("a", { class: "button primary small", href: this.signIn }, "Sign in and return");
      return this.notices.show("saved", "warning", `Your session has ended. ${kept}`, {}, link);
    }
    for (const { pointer, detail } of error.errors) this.findings.set(keyAt(pointer), detail);
    this.list.refresh();
    const again = error.status === 0 || error.status >= 500 ? { "Try again": () => this.send("Saved") } : {};
    this.notices.show("saved", "bad", `${sentence(error.message)} ${error.hint ? sentence(error.hint) + " " : ""}${kept}`, again);
    const at = [...this.findings.keys()].find((key) => this.model.knows(key));
    if (at !== undefined) this.list.reveal(at, this.groups());
  }

  // mergeInto applies edits to a config, which may be newer, and asks about conflicts.
  // Without an answer nothing changes, and it returns false.
  async mergeInto(newer, edits = this.model.edits) {
    const { kept, conflicts } = merge(edits, newer.values);
    let merged = kept;
    if (conflicts.length > 0) {
      const choices = await choose(conflicts, this.who(newer));
      if (!choices) {
        if (newer !== this.model.base) this.offer(newer);
        return false;
      }
      merged = resolve(kept, conflicts, choices, newer.values);
    }
    this.model.rebase(newer, merged);
    this.notices.hide("live");
    this.refresh();
    return true;
  }

  // refresh shows everything as the model is now, after more than one key changed.
  refresh() {
    this.indexAgain();
    this.records.refresh();
    this.list.refresh();
    this.keep();
    this.show();
    this.publish();
  }

  indexAgain() {
    this.index = new Index(new Map(this.model.keys().map((key) => [key, this.textOf(key)])));
  }

  // ---- Undo.

  // lastSave returns the changes of the last save of this tab, if nothing was saved since.
  lastSave() {
    return this.readOnly ? null : this.last.changes(this.model.base.revision);
  }

  async undo() {
    const changes = this.lastSave();
    if (!changes || this.model.dirty || this.saving) return;
    const edits = undoing(changes);
    this.model.edits = edits;
    const shownChanges = this.model.changes();
    this.model.edits = new Map();
    if (!(await review(shownChanges, { title: "Undo the last save", action: "Undo the save" }))) return;
    this.model.rebase(this.model.base, edits);
    this.refresh();
    await this.send("Undone");
  }

  // ---- What others do.

  listen() {
    listen(this.hub.path, (event) => event === "config" && this.look());
  }

  // look fetches the config if it may be another one than what is shown; after a save, or
  // another look, that is under way.
  async look() {
    this.again = this.saving || this.looking;
    if (this.again) return;
    this.looking = true;
    try {
      const newer = await this.hub.config();
      if (newer.revision !== this.model.base.revision && !this.saving) this.follow(newer);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
    } finally {
      this.looking = false;
    }
    if (this.again) await this.look();
  }

  // follow shows a newer config, or says that there is one while there are changes.
  follow(newer) {
    const changes = difference(this.model.base.values, newer.values);
    const what = `${this.who(newer)} saved through ${way(newer.via)}: ${counts(changes)}.`;
    if (this.model.dirty || this.pending) return this.offer(newer, what);
    this.model.rebase(newer, new Map());
    sayWritten(this.model.base);
    this.refresh();
    this.notices.hide("done"); // that save can no longer be undone
    this.notices.show("live", "info", `${what} It is shown here.`, { Dismiss: () => this.notices.hide("live") });
    this.list.flash(changes.map((c) => c.key));
  }

  // offer lets the user merge a newer config into the draft.
  offer(newer, what = `${this.who(newer)} saved a newer config.`) {
    if (this.pending) return;
    this.notices.show("live", "warning", `${what} Your changes are based on the one before.`, { Merge: () => this.mergeInto(newer) });
  }

  // who names the author of a config.
  who(config) {
    return config.by ? shown(config.by) : "Somebody";
  }
}

// readSchema reads a settings schema; null if there is none, or it is not JSON, which
// publishing refuses.
function readSchema(text) {
  try {
    return text && new Schema(text);
  } catch {
    return null;
  }
}

// keyAt returns the key that a pointer into a PATCH or into settings names.
function keyAt(pointer) {
  const path = pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return path[0] === "set" ? path[1] : joinKey(path);
}

const sentence = (text) => (text === "" || /[.!?]$/.test(text) ? text : `${text[0].toUpperCase()}${text.slice(1)}.`);

// shortcut makes Ctrl+S save.
function shortcut(editor) {
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s" || editor.readOnly) return;
    event.preventDefault();
    if (!document.querySelector("dialog[open]")) editor.save();
  });
}

const element = document.getElementById("editor");
if (element) {
  const editor = new Editor(element);
  editor.start().then(() => { warn(editor); shortcut(editor); }).catch((error) => {
    if (!(error instanceof HubError)) throw error;
    element.prepend(h("p", { class: "notice bad", role: "alert" }, `The editor did not start: ${error.message} The forms below work without it.`));
  });
}
