import { type FormEvent, useState } from 'react'

export interface Field {
  name: string
  in: 'path' | 'query' | 'body'
  label: string
  kind: string
  options?: string[]
  placeholder?: string
  required: boolean
  minimum?: number
  maximum?: number
}

interface Props {
  title: string
  submit: string
  fields: Field[]
  send: (input: Record<string, unknown>) => Promise<unknown>
}

/** Form draws the fields of an operation, sends what was typed, and shows the result. */
export function Form({ title, submit, fields, send }: Props) {
  const [result, setResult] = useState('')
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    try {
      setResult(JSON.stringify(await send(values(fields, form)), null, 2) ?? 'Done.')
    } catch (error) {
      setResult(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <form onSubmit={onSubmit}>
      <h2>{title}</h2>
      {fields.map(field => <label key={field.in + field.name}>{field.label}{input(field)}</label>)}
      <button>{submit}</button>
      <output>{result}</output>
    </form>
  )
}

function input({ name, kind, options, placeholder, required, minimum, maximum }: Field) {
  const common = { name, placeholder, required }
  switch (kind) {
    case 'choice': return <select {...common} defaultValue=""><option value="" />{options?.map(option => <option key={option}>{option}</option>)}</select>
    case 'checkbox': return <input name={name} type="checkbox" />
    case 'json': return <textarea {...common} rows={3} />
    case 'number': return <input {...common} type="number" step="any" min={minimum} max={maximum} />
    default: return <input {...common} type={kind} />
  }
}

/** Reads the fields: those of the body into body, the others beside it. */
function values(fields: Field[], form: FormData): Record<string, unknown> {
  const input: Record<string, unknown> = {}, body: Record<string, unknown> = {}
  for (const field of fields) {
    const text = String(form.get(field.name) ?? '')
    if (!text && field.kind !== 'checkbox') continue
    const value = field.kind === 'number' ? Number(text) : field.kind === 'json' ? JSON.parse(text) : field.kind === 'checkbox' ? text === 'on' : text
    if (field.in === 'body') body[field.name] = value
    else input[field.name] = value
  }
  return fields.some(field => field.in === 'body') ? { ...input, body } : input
}
