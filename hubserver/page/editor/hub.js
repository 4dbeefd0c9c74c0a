// hub.js calls the hub's API for the project of this page, as any other client would: the browser adds
// the session.

import { parse, write } from "./json.js";
import { readObject } from "./edits.js";
import { shown } from "./keys.js";

// page says which project the page shows, and who looks at it: project, user, api, stack, version, signIn.
const { dataset } = document.getElementById("editor");
export const page = { ...dataset, readOnly: dataset.canWrite !== "true" };

// HubError is a refusal by the hub, or the failure to reach it, which has status 0.
export class HubError extends Error {
  constructor(status, { code = "", detail = "", hint = "", errors = [] } = {}) {
    super(detail || `The hub responded with status ${status}.`);
    Object.assign(this, { status, code, hint, errors });
  }
}

// patience is how long a request may take, in milliseconds.
const patience = 30_000;

const encoded = (ref) => ref.replace(/^@/, "").split("/").map(encodeURIComponent).join("/");
export const path = `/v1/projects/${encoded(page.project)}`;

// config returns {revision, values, by, via}, the newest or a former one: values is a Map of canonical texts.
export async function config(former) {
  const answer = parse(await request("GET", `${path}/config${former ? `?revision=${former}` : ""}`));
  const { revision = "", updatedBy: by = "", updatedVia: via = "" } = answer;
  return { revision, values: readObject(answer.config), by, via };
}

// patch saves a change of the config with this revision, and returns the new one with the hub's findings.
// message says why, "" for nothing.
export const patch = (body, revision, message) =>
  send(`${path}/config${message ? `?message=${encodeURIComponent(message)}` : ""}`, body, revision);

// dryRun is patch, but nothing is written. signal aborts it.
export const dryRun = (body, revision, signal) => send(`${path}/config?dryRun=1`, body, revision, signal);

async function send(at, body, revision, signal) {
  const { findings = [], ...answer } = JSON.parse(await request("PATCH", at, { body, revision, signal }));
  return { revision: answer.revision, findings };
}

// shareDraft stores changes, {base, set, remove}, for others, and returns the id under which they are read.
export const shareDraft = async (body) => JSON.parse(await request("POST", `${path}/drafts`, { body })).id;

// sharedDraft returns changes that were shared, with createdBy.
export const sharedDraft = async (id) => parse(await request("GET", `${path}/drafts/${encodeURIComponent(id)}`));

// targets returns what enrichments can refer to in the API; null if the viewer may not read it.
export async function targets() {
  const text = page.api && (await optional(`/v1/apis/${encoded(page.api)}/targets`));
  return text ? JSON.parse(text) : null;
}

// settingsSchema returns the text of the JSON Schema of the stack version's settings; null if there is
// none that the viewer may read.
export const settingsSchema = async () =>
  page.stack
    ? optional(`/v1/stacks/${encoded(page.stack)}/versions/${encodeURIComponent(page.version)}/settings-schema`)
    : null;

async function optional(at) {
  try {
    return await request("GET", at);
  } catch (error) {
    if (error instanceof HubError) return null;
    throw error;
  }
}

async function request(method, at, { body, revision, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (body) headers["Content-Type"] = "application/json";
  if (revision) headers["If-Match"] = `"${revision}"`;
  const given = AbortSignal.timeout(patience);
  let response;
  let text;
  try {
    response = await fetch(at, {
      method,
      body,
      headers,
      redirect: "error",
      signal: signal ? AbortSignal.any([signal, given]) : given,
    });
    text = await response.text();
  } catch {
    throw new HubError(0, { detail: "The hub could not be reached." });
  }
  if (response.ok) return text;
  throw new HubError(response.status, problem(text));
}

function problem(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

// who names the author of a config.
export const who = ({ by }) => (by ? shown(by) : "Somebody");
