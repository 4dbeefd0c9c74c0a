// Does the main job at a hub, with the types that openapi-typescript generates from the
// hub's description: node main.js ORIGIN TOKEN
//
// It publishes bundle.tgz as a stack, registers pets.json as an API, and binds both in a project.
import { readFile } from "node:fs/promises"
import createClient from "openapi-fetch"
import type { paths } from "./hub.js"

const [baseUrl, token] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } })

/** Returns the data of a response, or throws what the hub says is wrong. */
function data<D>(answer: { data?: D; error?: { code: string; detail: string } }): D {
  if (answer.data === undefined) throw new Error(`${answer.error?.code}: ${answer.error?.detail}`)
  return answer.data
}

const path = { account: "acme", slug: "web" }
const absent = await client.GET("/v1/projects/{account}/{slug}", { params: { path } })
if (absent.error?.code !== "not_found") throw new Error("the project exists already")

const api = data(await client.POST("/v1/apis/upload", {
  params: { query: { account: "acme", slug: "pets", strict: "true" } },
  body: JSON.parse(await readFile("pets.json", "utf8")),
}))

const bundle = await readFile("bundle.tgz")
const version = { account: "acme", slug: "site", version: "1.0.0" }
const stack = data(await client.PUT("/v1/stacks/{account}/{slug}/versions/{version}", {
  params: { path: version },
  headers: { "Content-Type": "application/gzip" },
  body: bundle,
  bodySerializer: () => bundle,
}))
if (!stack.firstVersion) throw new Error("the stack exists already")

const project = data(await client.POST("/v1/projects", {
  body: { ...path, stack: "acme/site", api: api.api, visibility: "private" },
}))
if (!("visibility" in project)) throw new Error("a dry run")
if (project.resolvedStackVersion !== "1.0.0" || project.baseFiles !== null) throw new Error("another project")

const settings = { site: { title: "Pets", pages: 3 } }
const written = data(await client.PUT("/v1/projects/{account}/{slug}/client-config", {
  params: { path },
  body: { settings },
}))
const config = data(await client.GET("/v1/projects/{account}/{slug}/config", { params: { path } }))
if (config.revision !== written.revision || !config.hasConfig) throw new Error("another config")

const list = data(await client.GET("/v1/projects", { params: { query: { account: "acme", limit: 10 } } }))
for (const { project } of list.projects)
  console.log(`@${project.account}/${project.slug}`, JSON.stringify(config.config))

// What the types refuse: were they any, these lines would not compile.
const member = { params: { path: { account: "acme", user: "nora" } } }
// @ts-expect-error a role that does not exist
void (() => client.PUT("/v1/members/{account}/{user}", { ...member, body: { role: "owner" } }))
// @ts-expect-error a project without a slug
void (() => client.POST("/v1/projects", { body: { account: "acme" } }))
