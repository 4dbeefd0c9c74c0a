// The operations of an API in one list, each with the values it takes.

import type { Document, Operation, Parameter, Schema } from './contract'
import type { Models } from './models'
import { Names, camel } from './names'

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

export interface Value {
  name: string
  in: 'path' | 'query' | 'body'
  required: boolean
  schema: Schema
  owner?: string // the schema that declares it, if it has a name
}

export interface Call {
  id: string // the operationId, or one made of method and path
  name: string // of the generated function
  method: string
  path: string
  operation: Operation
  values: Value[]
  body?: Schema
  result?: Schema
}

export function calls(api: Document, models: Models): Call[] {
  const names = new Names(), list: Call[] = []
  for (const [path, item] of Object.entries(api.paths ?? {})) {
    for (const method of methods.filter(method => item[method])) {
      const operation: Operation = item[method]
      const id = operation.operationId ?? `${method} ${path}`
      const body = json(operation.requestBody?.content)
      const success = Object.entries(operation.responses ?? {}).find(([status]) => status.startsWith('2'))
      list.push({
        id, method, path, operation, body,
        name: names.unique(camel(id)),
        result: json(success?.[1].content),
        values: [...parameters(api, item.parameters, operation.parameters), ...(body ? properties(models, body) : [])],
      })
    }
  }
  return list
}

const json = (content: Record<string, { schema?: Schema }> | undefined): Schema | undefined =>
  Object.entries(content ?? {}).find(([type]) => /[/+]json\b/.test(type))?.[1].schema

/** Returns the parameters of the path and of the query; an operation's own replace those of its path. */
function parameters(api: Document, shared: Parameter[] = [], own: Parameter[] = []): Value[] {
  const all = new Map<string, Value>()
  for (const given of [...shared, ...own]) {
    const parameter = given.$ref ? api.components?.parameters?.[given.$ref.slice(given.$ref.lastIndexOf('/') + 1)] : given
    if (parameter?.in !== 'path' && parameter?.in !== 'query') continue // headers and cookies are not a user's to fill in
    all.set(`${parameter.in} ${parameter.name}`, {
      name: parameter.name, in: parameter.in, required: Boolean(parameter.required), schema: parameter.schema ?? {},
    })
  }
  return [...all.values()]
}

/** Returns the members of a body; one that is no object has none. */
function properties(models: Models, body: Schema): Value[] {
  const { schema, name } = models.resolve(body)
  const required = new Set(schema.required)
  const inherited = (schema.allOf ?? []).flatMap(part => properties(models, part))
  const own = Object.entries(schema.properties ?? {}).filter(([, property]) => !property.readOnly).map(([key, property]) =>
    ({ name: key, in: 'body' as const, required: required.has(key), schema: property, owner: name }))
  return [...inherited, ...own]
}
