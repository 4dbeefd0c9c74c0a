// A stack as a set of generators: each transforms the schemas or the operations of a
// document, and is notified when all are done.

export interface Context {
  settings: { basePath: string; labels?: Record<string, string> }
  register(path: string, line: string): void
  registered(path: string): string[]
}

export interface Generator {
  type: 'schema' | 'operation'
  transform(context: Context, name: string, value: unknown): void
  notify?(context: Context): void
}

export type GeneratorConfigMap = Record<string, Generator>

interface Options {
  documentObject: { paths?: Record<string, Record<string, { operationId: string }>>; components?: { schemas?: Record<string, unknown> } }
  settings: Context['settings']
  toGeneratorConfigMap: () => GeneratorConfigMap
}

export function toArtifacts({ documentObject, settings, toGeneratorConfigMap }: Options) {
  const files = new Map<string, string[]>()
  const registered = (path: string) => files.get(path) ?? []
  const context: Context = { settings, registered, register: (path, line) => files.set(path, [...registered(path), line]) }
  const operations = Object.values(documentObject.paths ?? {}).flatMap(item => Object.values(item)).map(o => [o.operationId, o] as const)
  const generators = Object.values(toGeneratorConfigMap())
  for (const generator of generators) {
    const values = generator.type === 'schema' ? Object.entries(documentObject.components?.schemas ?? {}) : operations
    for (const [name, value] of values) generator.transform(context, name, value)
  }
  for (const generator of generators) generator.notify?.(context)
  const artifacts = Object.fromEntries([...files].map(([path, lines]) => [`${settings.basePath}/${path}`, lines.join('\n') + '\n']))
  return { artifacts, manifest: { files: Object.keys(artifacts) } }
}
