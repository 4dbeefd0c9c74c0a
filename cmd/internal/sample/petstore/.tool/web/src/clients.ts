// One function for each operation, which calls it with fetch.

import type { Models } from './models'
import { comment, member, pascal, quote } from './names'
import type { Call } from './operations'

export function client(call: Call, models: Models): string {
  const used = new Set<string>()
  const parameters = call.values.filter(value => value.in !== 'body')
  const members = parameters.map(value => `${member(value.name)}${value.required ? '' : '?'}: ${models.type(value.schema, used)}`)
  if (call.body) members.push(`body: ${models.type(call.body, used)}`)
  const result = call.result ? models.type(call.result, used) : 'void'
  const imports = [...used].sort().map(name => `import type { ${name} } from ${quote('../models/' + name)}\n`).join('')
  return `${imports}import { send } from '../send'

export interface ${pascal(call.name)}Input {${members.map(line => `\n  ${line}`).join('')}
}

/** ${comment(call.operation.summary ?? call.id)} */
export function ${call.name}(input: ${pascal(call.name)}Input): Promise<${result}> {
  return send(${quote(call.method.toUpperCase())}, ${address(call)}, {${query(call)}}${call.body ? ', input.body' : ''})
}
`
}

/** Writes the path as a template with the parameters in their places. */
function address(call: Call): string {
  const pieces = call.path.split(/\{([^{}]*)\}/)
  const text = pieces.map((piece, i) => i % 2
    ? '${encodeURIComponent(String(input[' + quote(piece) + ']))}'
    : piece.replace(/[\\`]/g, '\\$&').replace(/\$\{/g, '\\${'))
  return '`' + text.join('') + '`'
}

const query = (call: Call): string => call.values.filter(value => value.in === 'query')
  .map(value => `${quote(value.name)}: input[${quote(value.name)}]`).join(', ')

/** The function that all clients share. */
export const send = `/** Sends one request; fails with the status if the API refuses it. */
export async function send<T>(method: string, path: string, query: Record<string, unknown>, body?: unknown): Promise<T> {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  const response = await fetch(search.size ? \`\${path}?\${search}\` : path, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  if (!response.ok) throw new Error(\`\${response.status} \${response.statusText}\`)
  return await response.json().catch(() => undefined) as T
}
`
