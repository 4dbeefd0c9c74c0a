// react-forms generates, from an API description, typed models, a client and a form
// for each operation, and an index of them for the app.

import { client, send } from './src/clients'
import type { Input, Output } from './src/contract'
import { Enrichments, inOrder } from './src/enrichments'
import { form, formLabel, formName } from './src/forms'
import { Models } from './src/models'
import { quote } from './src/names'
import { calls } from './src/operations'

export function toArtifacts({ api, settings, basePath }: Input): Output {
  const root = `${basePath}/generated`.replace(/^\//, '')
  const models = new Models(api), enrichments = new Enrichments(settings)
  const all = calls(api, models), shown = inOrder(all, call => enrichments.ofCall(call))

  const artifacts: Record<string, string> = { [`${root}/send.ts`]: send }
  for (const { name, text } of models.files()) artifacts[`${root}/models/${name}.ts`] = text
  for (const call of all) {
    artifacts[`${root}/clients/${call.name}.ts`] = client(call, models)
    artifacts[`${root}/forms/${formName(call)}.tsx`] = form(call, models, enrichments, settings)
  }
  artifacts[`${root}/index.ts`] = [
    ...shown.map(call => `import { ${formName(call)} } from './forms/${formName(call)}'`), '',
    `export const title = ${quote(settings.title ?? api.info.title)}`,
    `export const theme = ${JSON.stringify({ colour: settings.theme?.colour ?? 'teal', density: settings.theme?.density ?? 1.25 })}`,
    'export const forms = [',
    ...shown.map(call => `  { name: ${quote(call.name)}, label: ${quote(formLabel(call, enrichments))}, Form: ${formName(call)} },`),
    ']', ''].join('\n')

  return {
    artifacts,
    previews: shown.slice(0, 500).map(call => ({
      name: formLabel(call, enrichments), group: call.operation.tags?.[0] ?? 'Forms',
      module: `${root}/forms/${formName(call)}.tsx`, export: formName(call),
    })),
    notes: enrichments.unknown(api, all).slice(0, 100),
  }
}
