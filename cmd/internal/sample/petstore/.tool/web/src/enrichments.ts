// Labels and order that people gave to operations and fields.

import type { Document, Enrichment, Note, Settings } from './contract'
import type { Call, Value } from './operations'

export class Enrichments {
  private readonly byTarget = new Map<string, Enrichment>()

  constructor(settings: Settings) {
    const given = settings.enrichments ?? []
    const records = Array.isArray(given) ? given : Object.entries(given).map(([target, record]) => ({ ...record, target }))
    for (const record of records) this.byTarget.set(record.target, record)
  }

  ofCall(call: Call): Partial<Enrichment> {
    return this.byTarget.get(call.id) ?? {}
  }

  /** Returns that of a field: of this operation, or else of the schema that declares it. */
  ofValue(call: Call, value: Value): Partial<Enrichment> {
    return this.byTarget.get(`${call.id}.${value.name}`) ?? this.byTarget.get(`${value.owner}.${value.name}`) ?? {}
  }

  /** Names the targets that the API does not have. */
  unknown(api: Document, calls: Call[]): Note[] {
    const known = new Set(calls.flatMap(call => [call.id, ...call.values.map(value => `${call.id}.${value.name}`)]))
    for (const [name, schema] of Object.entries(api.components?.schemas ?? {})) {
      known.add(name)
      for (const property of Object.keys(schema.properties ?? {})) known.add(`${name}.${property}`)
    }
    return [...this.byTarget.keys()].filter(target => !known.has(target)).map(target =>
      ({ level: 'warn' as const, at: 'enrichments', text: `The API has no operation or field ${target}.` }))
  }
}

/** Sorts by order, keeping the API's order among equals; those without one come last. */
export function inOrder<T>(list: T[], enrichment: (item: T) => Partial<Enrichment>): T[] {
  const order = (item: T) => enrichment(item).order ?? Infinity
  return list.filter(item => !enrichment(item).hidden).sort((a, b) => order(a) === order(b) ? 0 : order(a) - order(b))
}
