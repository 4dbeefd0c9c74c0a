// A small stack: one form per operation with a request body, and a list of them.
import { pascal, words } from './names.ts'
import texts from './texts.json'

interface Input {
  api: Document
  config: Record<string, unknown>
  settings: { title?: string; labels?: Record<string, string> }
  basePath: string
  stack: { name: string; version: string }
}
interface Schema { type?: string; properties?: Record<string, Schema> }
interface Operation { operationId?: string; requestBody?: { content: Record<string, { schema: Schema }> } }
interface Document { paths: Record<string, Record<string, Operation>> }

const field = (name: string, label: string, schema: Schema) =>
  `      <label>{${JSON.stringify(label)}}<input name=${JSON.stringify(name)} type=${JSON.stringify(schema.type === 'integer' ? 'number' : 'text')} /></label>`

export function toArtifacts({ api, settings, basePath, stack }: Input) {
  const artifacts: Record<string, string> = {}
  const previews: { name: string; group: string; module: string; export: string }[] = []
  const notes: { level: 'info' | 'warn'; at?: string; text: string }[] = []
  for (const [path, item] of Object.entries(api.paths)) for (const [method, operation] of Object.entries(item)) {
    const schema = operation.requestBody?.content['application/json']?.schema
    if (!schema) continue
    const name = pascal(operation.operationId ?? `${method} ${path}`) + 'Form'
    const module = `${basePath}/generated/${name}.tsx`
    if (!schema.properties) notes.push({ level: 'warn', at: `labels.${name}`, text: `${method} ${path} has no fields` })
    const fields = Object.entries(schema.properties ?? {}).map(([key, s]) => field(key, settings.labels?.[key] ?? words(key).join(' '), s))
    artifacts[module] = [
      `export function ${name}() {`,
      `  return (`,
      `    <form onSubmit={event => event.preventDefault()}>`,
      `      <h2>{${JSON.stringify(name)}}</h2>`,
      ...fields,
      `      <button>{${JSON.stringify(texts.submit)}}</button>`,
      `    </form>`,
      `  )`,
      `}`,
    ].join('\n') + '\n'
    previews.push({ name, group: 'forms', module, export: name })
  }
  artifacts[`${basePath}/generated/index.ts`] = [
    `export const title: string = ${JSON.stringify(settings.title ?? texts.title)}`,
    `export const stack = ${JSON.stringify(`${stack.name} ${stack.version}`)}`,
    ...previews.map(p => `import { ${p.export} } from './${p.name}'`),
    `export const forms = [${previews.map(p => p.export).join(', ')}]`,
  ].join('\n') + '\n'
  return { artifacts, previews, notes }
}
