import type { GeneratorConfigMap } from './core'

const index = 'generated/index.ts'

export const toGeneratorConfigMap = (): GeneratorConfigMap => ({
  types: {
    type: 'schema',
    transform: ({ register }, name) => register('generated/types.ts', `export type ${name} = Record<string, unknown>`),
  },
  labels: {
    type: 'operation',
    transform: ({ register, settings }, name) => register(index, `export const ${name}: string = ${JSON.stringify(settings.labels?.[name] ?? name)}`),
    notify: ({ register, registered }) => {
      const names = registered(index).map(line => line.split(/[ :]/)[2])
      register(index, `export const all: string[] = [${names.join(', ')}]`)
    },
  },
})
