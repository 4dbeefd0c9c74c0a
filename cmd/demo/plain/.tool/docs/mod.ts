// plain-html generates one page, the reference of an API, with no framework: a
// section for each tag, and in it each operation with its parameters and a command.

import { type Html, html } from './html'

interface Parameter { name: string; in: string; required?: boolean; description?: string; schema?: { type?: string } }
interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: unknown
  responses?: Record<string, { description?: string }>
}
interface Input {
  api: { info: { title: string; description?: string }; paths?: Record<string, Record<string, Operation>> }
  settings: { title?: string; server?: string; enrichments?: Record<string, { label?: string }> }
}

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options']

export function toArtifacts({ api, settings }: Input) {
  const server = settings.server ?? 'https://api.example.com'
  const groups = new Map<string, Html[]>()
  for (const [path, item] of Object.entries(api.paths ?? {})) {
    for (const method of methods.filter(method => item[method])) {
      const operation = item[method], group = operation.tags?.[0] ?? 'Operations'
      const label = settings.enrichments?.[operation.operationId ?? '']?.label ?? operation.summary ?? `${method} ${path}`
      groups.set(group, [...groups.get(group) ?? [], section(method.toUpperCase(), path, operation, label, server)])
    }
  }
  const title = settings.title ?? api.info.title
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><img src="/logo.svg" alt="" width="32" height="32"><h1>${title}</h1></header>
<p>${api.info.description}</p>
${[...groups].map(([name, sections]) => html`<h2>${name}</h2>\n${sections}`)}
</body>
</html>
`
  return { artifacts: { 'index.html': page.text } }
}

const section = (method: string, path: string, operation: Operation, label: string, server: string): Html => html`<section id="${operation.operationId}">
<h3>${label}</h3>
<p><code>${method} ${path}</code></p>
${operation.parameters?.length ? table(operation.parameters) : ''}
<pre>curl ${method === 'GET' ? '' : `-X ${method} `}${operation.requestBody ? '-d @body.json ' : ''}${server}${path}</pre>
<ul>${Object.entries(operation.responses ?? {}).map(([status, response]) => html`<li><b>${status}</b> ${response.description}</li>`)}</ul>
</section>
`

const table = (parameters: Parameter[]): Html => html`<table>
<tr><th>Parameter</th><th>In</th><th>Type</th><th></th></tr>
${parameters.map(p => html`<tr><td><code>${p.name}</code>${p.required ? ' *' : ''}</td><td>${p.in}</td><td>${p.schema?.type}</td><td>${p.description}</td></tr>\n`)}</table>`
