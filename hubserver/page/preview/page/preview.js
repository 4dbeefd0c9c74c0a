// One preview on a page: it hands what the hub has to the frame, follows saves, pushes and
// the editor's draft, and shows what the frame says.

import { edited, put, read, subscribe } from "../../editor/kept.js";
import { Host } from "../../static/preview/host.js";
import { Problem, Project, packages } from "./project.js";
import { watch } from "./watch.js";
import * as view from "../../static/preview/view.js";

const stale = ({ place }, is) => place.classList.toggle("stale", is);

// Preview shows the project that root names in its data attributes, in the parts of root
// that have a data-part. root gets the events "painted", and "output" when there is
// another output.
export class Preview {
  constructor(root) {
    this.root = root;
    this.project = new Project(root.dataset.project);
    this.saved = { config: {}, revision: "" };
    this.draft = null;
    this.hosts = [];
    this.busy = Promise.resolve();
    // output is what the stack generated from the present config: {changes, count}, or
    // {failure, kind}; null until it is known.
    this.output = null;
    this.failure = null; // what is shown of it: {n, …}, where n is the update that failed
  }

  // start fetches what the preview is made from, and shows it. After a failure it may be
  // called again.
  async start() {
    this.root.dataset.state = "loading";
    this.say(null);
    if (!this.root.dataset.stranger) this.main ??= this.host(this.part("place")); // the frame starts while the hub responds
    try {
      const [files, stack, api, saved, set] = await Promise.all([
        this.project.files(), this.project.stack(), this.project.api(), this.project.config(), packages(this.root.dataset.packages),
      ]);
      Object.assign(this, { stack, api, saved, set, draft: this.kept(saved) });
      this.files = files;
    } catch (error) {
      this.project = new Project(this.root.dataset.project);
      return this.refused(error, () => this.start());
    }
    await this.agreed(this.stack);
    this.root.dataset.state = "generating";
    subscribe(this.project.ref, (draft) => this.edit(draft)); // an editor on this page says at once what it has
    this.main ??= this.host(this.part("place"));
    this.main.update({ ...this.files, ...this.#common() });
    watch(this.project.base, () => this.project.state(), (state) => this.follow(state));
    this.offerVersions();
    this.part("previews").addEventListener("change", (event) => this.send({ preview: event.target.value || null }));
    this.facts();
  }

  // agreed waits until the viewer wants to run an app that somebody outside of the account wrote. The
  // browser remembers the answer for these base files and this stack.
  agreed(stack) {
    const { stranger, api, state } = this.root.dataset;
    const name = `hub.run ${this.project.ref} ${this.project.set.tree} ${stack.digest}`;
    if (!stranger || read(name, localStorage)) return undefined;
    this.root.dataset.state = "asking";
    return new Promise((resolve) => {
      const title = `Run the app of ${stranger}?`;
      const question = view.element("div", { class: "empty", role: "group", "aria-label": title },
        view.element("h2", {}, title),
        view.element("p", {}, `${stranger} has no role on this account. The app will see this config and the API ${api}.`),
        view.button("Run", () => {
          put(name, "yes", localStorage);
          question.remove();
          this.root.dataset.state = state;
          resolve();
        }));
      this.part("place").append(question);
    });
  }

  #common() {
    return { stack: this.stack, api: this.api, packages: this.set, saved: this.saved.config, draft: this.draft?.config ?? null };
  }

  part(name) {
    return this.root.querySelector(`[data-part="${name}"]`);
  }

  // kept returns the draft that this tab keeps from the editor, null if there is none.
  kept({ revision, config }) {
    const kept = edited(this.project.ref, { revision, config: JSON.stringify(config) });
    return kept.dirty ? { revision, config: JSON.parse(kept.config) } : null;
  }

  // host makes a frame for one version of the stack.
  host(place) {
    const host = new Host(place, this.root.dataset.frame, (message) => this.receive(host, message));
    host.failed = 0; // the last update that did
    this.hosts.push(host);
    return host;
  }

  send(change) {
    this.put(null);
    for (const host of this.hosts) host.update(change);
  }

  put(output) {
    this.output = output;
    this.root.dispatchEvent(new CustomEvent("output"));
  }

  // edit shows a draft of the editor, or the saved config again. A draft that ends with
  // another revision was saved: its config is known before the hub tells of it.
  edit({ revision, dirty, config }) {
    const draft = dirty ? { config: JSON.parse(config), revision } : null;
    if (!draft && !this.draft) return;
    const change = { draft: draft?.config ?? null };
    if (!draft && revision !== this.draft.revision) {
      this.saved = { config: JSON.parse(config), revision };
      change.saved = this.saved.config;
    }
    this.draft = draft;
    this.send(change);
    this.facts();
  }

  // follow fetches what somebody saved or pushed, one change after the other.
  follow(state) {
    this.busy = this.busy.then(() => this.fetchChanges(state)).catch((error) => this.refused(error, () => this.follow(state)));
  }

  async fetchChanges({ revision, tree, version }) {
    const change = {};
    if (revision !== undefined && revision !== this.saved.revision) {
      this.saved = await this.project.config();
      change.saved = this.saved.config;
    }
    if (tree && tree !== this.project.set?.tree) Object.assign(change, await this.project.files());
    if (version !== undefined && version !== this.stack.version) {
      this.stack = await this.project.stack();
      await this.agreed(this.stack);
      this.main.update({ stack: this.stack });
    }
    if (Object.keys(change).length > 0) this.send(change);
    this.facts();
  }

  receive(host, message) {
    const isMain = host === this.main;
    switch (message.type) {
      case "failed":
        host.failed = message.n;
        stale(host, true);
        if (!isMain) break;
        this.say(message);
        if (this.output === null) this.put({ failure: message.message, kind: message.kind });
        break;
      case "generated":
        if (!isMain) break;
        view.changes(this.part("changes"), message.changes, message.count);
        view.said(this.part("notes"), message.n, message.notes, this.project.ref);
        view.menu(this.part("previews"), message.previews);
        this.put({ changes: message.changes, count: message.count });
        break;
      case "printed":
        if (isMain) view.said(this.part("notes"), message.n, [message]);
        break;
      case "painted":
        if (message.n > host.failed) stale(host, false);
        if (!isMain) break;
        if (this.failure && message.n > this.failure.n) this.say(null);
        this.root.dataset.state = "painted";
        this.root.dispatchEvent(new CustomEvent("painted", { detail: message }));
        break;
      case "left": // which an app may say in place of its failure
        if (isMain && (!this.failure || this.failure.kind === "left")) this.say({ kind: "left", message: message.address, action: view.button("Dismiss", () => this.say(null)) });
    }
  }

  // say shows a failure, null for none.
  say(failure) {
    this.failure = failure && { n: this.main?.number ?? 0, ...failure };
    const path = failure?.file;
    const href = path && this.project.set?.entries.has(path) ? `/${this.project.ref}/files/${path.split("/").map(encodeURIComponent).join("/")}${failure.line ? `#L${failure.line}` : ""}` : undefined;
    view.failure(this.part("failure"), failure && { ...failure, href });
    if (failure && this.root.dataset.state !== "painted") this.root.dataset.state = "failed";
  }

  facts() {
    view.facts(this.part("facts"), { stack: this.stack, revision: this.draft?.revision ?? this.saved.revision, draft: this.draft !== null, tree: this.project.set?.tree ?? "" });
  }

  // refused says why the hub did not send what the preview needs.
  refused(error, again) {
    const { message, hint, status } = error instanceof Problem ? error : new Problem(0, { detail: String(error?.message ?? error) });
    const here = encodeURIComponent(location.pathname + location.search);
    const action = status === 401 ? view.element("a", { class: "button small", href: `/sign-in?to=${here}` }, "Sign in and return")
      : status === 0 || status >= 500 ? view.button("Try again", again) : null;
    this.say({ kind: "", message, hint, action });
    this.put({ failure: message });
  }

  // offerVersions lets a second version of the stack be shown next to the project's, where
  // there is a place for it.
  async offerVersions() {
    const select = this.part("versions");
    if (!select) return;
    const versions = (await this.project.versions(this.stack.name ?? "")).filter((v) => v !== this.stack.version);
    select.replaceChildren(view.element("option", { value: "" }, "none"), ...versions.slice(0, 100).map((v) => view.element("option", { value: v }, v)));
    select.closest("label").hidden = versions.length === 0;
    select.addEventListener("change", () => this.compare(select.value));
  }

  async compare(version) {
    const place = this.part("other");
    this.hosts = this.hosts.filter((host) => host === this.main);
    this.other?.end();
    this.other = null;
    place.hidden = !version;
    if (!version) return;
    try {
      const stack = await this.project.stack(version);
      await this.agreed(stack);
      this.other = this.host(place);
      this.other.update({ ...this.#common(), files: this.project.set.files, stack, preview: this.part("previews").value || null });
    } catch (error) {
      this.refused(error, () => this.compare(version));
    }
  }
}
