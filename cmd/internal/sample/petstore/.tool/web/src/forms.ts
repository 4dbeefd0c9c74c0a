// One form for each operation. It says which fields there are; the app's own
// components/Form draws them.

import type { Settings } from './contract'
import { type Enrichments, inOrder } from './enrichments'
import type { Models } from './models'
import { label, pascal, quote } from './names'
import type { Call, Value } from './operations'

export const formName = (call: Call): string => `${pascal(call.name)}Form`

export const formLabel = (call: Call, enrichments: Enrichments): string =>
  enrichments.ofCall(call).label ?? call.operation.summary ?? label(call.id)

export function form(call: Call, models: Models, enrichments: Enrichments, settings: Settings): string {
  const values = inOrder(call.values, value => enrichments.ofValue(call, value))
  const fields = values.map(value => `  ${JSON.stringify(field(call, value, models, enrichments)).replace(/</g, '\\u003c')},`)
  return `import { Form, type Field } from '../../components/Form'
import { ${call.name} } from '../clients/${call.name}'

const fields: Field[] = [${fields.length ? '\n' + fields.join('\n') + '\n' : ''}]

export function ${formName(call)}() {
  return <Form title={${quote(formLabel(call, enrichments))}} submit={${quote(settings.submit ?? 'Send')}} fields={fields} send={input => ${call.name}(input as never)} />
}
`
}

function field(call: Call, value: Value, models: Models, enrichments: Enrichments): object {
  const enrichment = enrichments.ofValue(call, value)
  const { schema } = models.resolve(value.schema)
  return {
    name: value.name,
    in: value.in,
    label: enrichment.label ?? label(value.name),
    placeholder: enrichment.placeholder ?? schema.description,
    required: value.required,
    minimum: schema.minimum,
    maximum: schema.maximum,
    ...input(schema),
  }
}

/** Chooses the kind of input for a schema. */
function input(schema: { type?: string | string[]; format?: string; enum?: unknown[] }): { kind: string; options?: string[] } {
  if (schema.enum) return { kind: 'choice', options: schema.enum.map(String) }
  switch ([schema.type ?? []].flat().find(type => type !== 'null')) {
    case 'boolean': return { kind: 'checkbox' }
    case 'integer': case 'number': return { kind: 'number' }
    case 'object': case 'array': return { kind: 'json' }
  }
  return { kind: schema.format === 'date' || schema.format === 'email' ? schema.format : 'text' }
}
