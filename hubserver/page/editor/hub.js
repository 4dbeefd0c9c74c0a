// hub.js calls the hub's API for one project, as any other client would: the browser adds
// the session.

import { parse, write } from "./json.js";
import { readNode } from "./model.js";

// HubError is a refusal by the hub, or the failure to reach it, which has status 0.
export class HubError extends Error {
  constructor(status, { code = "", detail = "", hint = "", errors = [] } = {}) {
    super(detail || `status ${status}`);
    Object.assign(this, { status, code, hint, errors });
  }
}

// patience is how long a request may take, in milliseconds.
const patience = 30_000;

// Hub is a project on the hub that served the page.
export class Hub {
  // ref is such as "@acme/web".
  constructor(ref) {
    this.path = `/v1/projects/${ref.slice(1).split("/").map(encodeURIComponent).join("/")}`;
  }

  // config returns {revision, values, by, via, at}: values is a Map of canonical texts.
  async config() {
    const { text } = await request("GET", `${this.path}/config`);
    const answer = new Map(parse(text).members);
    const string = (name) => answer.get(name)?.value ?? "";
    return { revision: string("revision"), values: readNode(answer.get("config")), by: string("updatedBy"), via: string("updatedVia"), at: string("updatedAt") };
  }

  // patch saves a change of the config with this revision, and returns the new revision
  // with the hub's findings about it, [{pointer, detail}].
  async patch(body, revision) {
    const { text } = await request("PATCH", `${this.path}/config`, body, { "If-Match": `"${revision}"` });
    const answer = JSON.parse(text);
    return { revision: answer.revision, findings: answer.findings ?? [] };
  }
}

// targets returns what enrichments can refer to in an API, such as "@acme/pets"; null for
// "", if the viewer may not read it.
export async function targets(api) {
  if (!api) return null;
  const text = await optional(`/v1/apis/${encoded(api)}/targets`);
  return text && JSON.parse(text);
}

// settingsSchema returns the text of the JSON Schema of a stack version's settings; null
// for the stack "", if there is none that the viewer may read.
export async function settingsSchema(stack, version) {
  if (!stack) return null;
  const text = await optional(`/v1/stacks/${encoded(stack)}/versions/${encodeURIComponent(version)}/settings-schema`);
  return text && write(parse(text));
}

const encoded = (ref) => ref.replace(/^@/, "").split("/").map(encodeURIComponent).join("/");

async function optional(path) {
  try {
    return (await request("GET", path)).text;
  } catch (error) {
    if (error instanceof HubError) return null;
    throw error;
  }
}

async function request(method, path, body, headers = {}) {
  let response;
  let text;
  try {
    response = await fetch(path, {
      method, body, headers: { Accept: "application/json", ...(body && { "Content-Type": "application/json" }), ...headers },
      redirect: "error", signal: AbortSignal.timeout(patience),
    });
    text = await response.text();
  } catch {
    throw new HubError(0, { detail: "The hub could not be reached." });
  }
  if (response.ok) return { text };
  throw new HubError(response.status, problem(text));
}

function problem(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
