// TypeScript types for the schemas of the API.

import type { Document, Schema } from './contract'
import { Names, comment, member, pascal, quote } from './names'

/** Models names the types of an API's schemas and writes them. */
export class Models {
  private readonly typeNames = new Map<string, string>() // name of the schema → name of the type

  constructor(private readonly api: Document) {
    const names = new Names()
    for (const name of Object.keys(this.schemas)) this.typeNames.set(name, names.unique(pascal(name)))
  }

  private get schemas(): Record<string, Schema> {
    return this.api.components?.schemas ?? {}
  }

  /** Returns what a schema refers to, and the name it has there. */
  resolve(schema: Schema): { schema: Schema; name?: string } {
    let name: string | undefined
    for (let steps = 0; schema.$ref; steps++) {
      name = refName(schema.$ref)
      const next = Object.hasOwn(this.schemas, name) ? this.schemas[name] : undefined
      if (!next || steps > 32) throw new Error(`${schema.$ref}: the API has no such schema`)
      schema = next
    }
    return { schema, name }
  }

  /** Writes the type of a schema; adds the names of the models it uses. */
  type(schema: Schema, used: Set<string>, indent = ''): string {
    if (schema.$ref) {
      const name = this.typeNames.get(refName(schema.$ref)) ?? 'unknown'
      if (name !== 'unknown') used.add(name)
      return name
    }
    const types = [schema.type ?? []].flat()
    const alternatives = this.alternatives(schema, types.find(type => type !== 'null'), used, indent)
    return schema.nullable || types.includes('null') ? `${alternatives} | null` : alternatives
  }

  private alternatives(schema: Schema, type: string | undefined, used: Set<string>, indent: string): string {
    const all = (schemas: Schema[], separator: string) =>
      schemas.map(one => `(${this.type(one, used, indent)})`).join(separator)
    if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' | ')
    if (schema.oneOf ?? schema.anyOf) return all((schema.oneOf ?? schema.anyOf)!, ' | ')
    if (schema.allOf) return all(schema.allOf, ' & ')
    switch (type) {
      case 'string': return 'string'
      case 'integer': case 'number': return 'number'
      case 'boolean': return 'boolean'
      case 'array': return `Array<${this.type(schema.items ?? {}, used, indent)}>`
    }
    return type === 'object' || schema.properties ? this.object(schema, used, indent) : 'unknown'
  }

  private object(schema: Schema, used: Set<string>, indent: string): string {
    const inner = indent + '  '
    const required = new Set(schema.required)
    const members = Object.entries(schema.properties ?? {}).map(([name, property]) =>
      (property.description ? `${inner}/** ${comment(property.description)} */\n` : '') +
      `${inner}${member(name)}${required.has(name) ? '' : '?'}: ${this.type(property, used, inner)}`)
    if (schema.additionalProperties) members.push(`${inner}[name: string]: unknown`)
    return members.length ? `{\n${members.join('\n')}\n${indent}}` : 'Record<string, unknown>'
  }

  /** Writes one file for each schema: its name, without directory and ending, and its text. */
  files(): { name: string; text: string }[] {
    return [...this.typeNames].map(([schemaName, name]) => {
      const schema = this.schemas[schemaName], used = new Set<string>()
      const body = this.type(schema, used)
      used.delete(name)
      const imports = [...used].sort().map(other => `import type { ${other} } from ${quote('./' + other)}\n`).join('')
      const about = schema.description ? `/** ${comment(schema.description)} */\n` : ''
      return { name, text: `${imports}${imports && '\n'}${about}export type ${name} = ${body}\n` }
    })
  }
}

const refName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)
