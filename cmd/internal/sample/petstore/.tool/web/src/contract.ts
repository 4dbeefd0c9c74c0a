// The shapes that a preview module receives and returns, as far as this stack uses
// them, and the parts of an API description that it reads.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface Input {
  api: Document
  config: Record<string, Json>
  settings: Settings
  basePath: string // below the app root
  stack: { name: string; version: string }
}

export interface Output {
  artifacts: Record<string, string> // path below the app root → text
  previews: Preview[]
  notes: Note[]
}

export interface Preview { name: string; group: string; module: string; export: string }
export interface Note { level: 'info' | 'warn'; at?: string; text: string }

export interface Settings {
  title?: string
  submit?: string
  theme?: { colour?: string; density?: number }
  enrichments?: Enrichment[] | Record<string, Enrichment>
}

export interface Enrichment { target: string; label?: string; placeholder?: string; order?: number; hidden?: boolean }

export interface Document {
  info: { title: string }
  paths?: Record<string, PathItem>
  components?: { schemas?: Record<string, Schema>; parameters?: Record<string, Parameter> }
}

export type PathItem = { parameters?: Parameter[] } & { [method: string]: Operation }

export interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { content?: Record<string, { schema?: Schema }> }
  responses?: Record<string, { content?: Record<string, { schema?: Schema }> }>
}

export interface Parameter { $ref?: string; name: string; in: string; required?: boolean; schema?: Schema }

export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  enum?: Json[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  allOf?: Schema[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  nullable?: boolean
  readOnly?: boolean
  minimum?: number
  maximum?: number
}
