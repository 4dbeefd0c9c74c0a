// What a preview is made from, fetched from the hub with the viewer's session.

import { limits, mebibytes } from "../src/limits.js";
import { untar } from "./tar.js";

const maxSet = 64 << 20; // a larger set of files is not fetched

// Problem is a response of the hub that is not a success.
export class Problem extends Error {
  constructor(status, { title, detail, hint } = {}) {
    super(detail ?? title ?? `the hub responded with status ${status}`);
    Object.assign(this, { status, hint });
  }
}

async function get(path, read = (response) => response.json()) {
  let response;
  try {
    response = await fetch(path);
  } catch {
    throw new Problem(0, { detail: "the hub cannot be reached" });
  }
  if (!response.ok) throw new Problem(response.status, await response.json().catch(() => ({})));
  return read(response);
}

const bytes = async (response) => new Uint8Array(await response.arrayBuffer());

// Project is one project, such as "@acme/web".
export class Project {
  constructor(ref) {
    this.ref = ref;
    this.base = "/v1/projects/" + ref.slice(1);
    this.set = null; // the newest base files: {tree, entries: Map, files: Map}
  }

  // state returns the revision of the config and the tree of the base files.
  async state() {
    const { config, baseFiles, resolvedStackVersion } = await get(this.base);
    return { revision: config.revision, tree: baseFiles?.tree ?? "", version: resolvedStackVersion };
  }

  // config returns {config, revision}; config is the flat config.
  config() {
    return get(this.base + "/config");
  }

  // api returns the API description as JSON text.
  api() {
    return get(this.base + "/preview/api", (response) => response.text());
  }

  // stack returns {name, version, module, digest, files}; module is null without a preview module.
  stack(version = "") {
    const query = version ? "?version=" + encodeURIComponent(version) : "";
    return get(this.base + "/preview/stack" + query, async (response) => {
      const files = untar(await bytes(response));
      const { name, preview } = readManifest(files.get("stack.json"));
      const digest = (response.headers.get("ETag") ?? "").replace(/^"|-?(gzip|zstd)?"$/g, "");
      return { name, version: response.headers.get("Stack-Version"), digest, module: preview?.module ?? null, files };
    });
  }

  // files returns what changed of the base files: {files} the first time, {changed} later,
  // null if nothing did. What is large is a size instead of bytes.
  async files() {
    const list = await get(this.base + "/preview/base-files");
    if (list.tree === this.set?.tree) return null;
    if (list.bytes > maxSet) throw new Problem(413, { detail: `the base files are ${mebibytes(list.bytes)}: a preview takes at most ${mebibytes(maxSet)}` });
    const before = this.set;
    const entries = new Map(list.files.map((f) => [f.path, f]));
    const query = before ? "?base=" + before.tree : "";
    const sent = await get(this.base + "/preview/base-files/archive" + query, async (response) => untar(await bytes(response)));
    const files = new Map();
    const changed = [];
    for (const [path, entry] of entries) {
      const same = before?.entries.get(path)?.sha256 === entry.sha256;
      const content = same ? before.files.get(path) : taken(sent.get(path), path);
      files.set(path, content);
      if (!same) changed.push([path, content]);
    }
    for (const path of before?.entries.keys() ?? []) if (!entries.has(path)) changed.push([path, null]);
    this.set = { tree: list.tree, entries, files };
    return before ? { changed } : { files };
  }

  // versions returns the versions of the stack that the viewer may read, newest first.
  async versions(stack) {
    try {
      return (await get("/v1/stacks/" + stack.replace(/^@/, ""))).versions.map((v) => v.version);
    } catch {
      return [];
    }
  }
}

function taken(content, path) {
  if (!content) throw new Problem(409, { detail: `the base files changed while they were fetched: ${path} is missing` });
  return content.length > limits.linkedFile ? { size: content.length } : content;
}

function readManifest(content) {
  try {
    const manifest = JSON.parse(new TextDecoder().decode(content));
    return typeof manifest === "object" && manifest !== null ? manifest : {};
  } catch {
    return {};
  }
}

// packages returns the modules of the hub's own packages, by name.
export async function packages(address) {
  return new Map(Object.entries((await get(address)).modules));
}
