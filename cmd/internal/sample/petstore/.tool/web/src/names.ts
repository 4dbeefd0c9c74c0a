// Names of generated files, types and functions, derived from those of the API.

const words = (text: string): string[] =>
  text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/).filter(Boolean)

export function pascal(text: string): string {
  const name = words(text).map(word => word[0].toUpperCase() + word.slice(1)).join('')
  return /^[A-Za-z]/.test(name) ? name : 'N' + name
}

export function camel(text: string): string {
  const name = pascal(text)
  return name[0].toLowerCase() + name.slice(1)
}

/** Makes a label for people out of a name: "petKind" becomes "Pet kind". */
export function label(text: string): string {
  const lower = words(text).map(word => word.toLowerCase()).join(' ')
  return lower.slice(0, 1).toUpperCase() + lower.slice(1)
}

/** Writes a string as a literal that is safe in TypeScript and in HTML. */
export const quote = (text: string): string => JSON.stringify(text).replace(/</g, '\\u003c')

/** Writes the name of a member, quoted where TypeScript needs it. */
export const member = (text: string): string => /^[A-Za-z_$][\w$]*$/.test(text) ? text : quote(text)

/** Writes text into a comment, on one line. */
export const comment = (text: string): string => text.replace(/\s+/g, ' ').replace(/\*\//g, '* /').trim()

/** Gives each name once: the second "Pet" becomes "Pet2". */
export class Names {
  private readonly taken = new Set<string>()

  unique(name: string): string {
    let free = name
    for (let n = 2; this.taken.has(free.toLowerCase()); n++) free = name + n
    this.taken.add(free.toLowerCase())
    return free
  }
}
