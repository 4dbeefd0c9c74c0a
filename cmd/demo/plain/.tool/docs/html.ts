// HTML as values: what is put into a template is escaped unless it is HTML itself.

export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | undefined | Part[]

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const render = (part: Part): string =>
  part instanceof Html ? part.text
    : Array.isArray(part) ? part.map(render).join('')
      : String(part ?? '').replace(/[&<>"']/g, character => escapes[character])

export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(strings.map((text, i) => text + (i < parts.length ? render(parts[i]) : '')).join(''))
