// The limits of the contract. Sizes are bytes of UTF-8, except where they say characters.

export const limits = {
  module: 2 << 20, // the stack's module with everything that it imports
  seconds: 5, // one run of the module
  artifacts: 5000,
  artifactBytes: 16 << 20, // all artifacts together
  previews: 500,
  notes: 100,
  text: 4000, // characters of a message, a note or a name
  path: 1024,
  linkedFile: 10 << 20, // a file of the tree that the app embeds
  shownChanges: 20, // changed artifacts whose difference is shown
  restored: 200, // form fields that a reload keeps
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8')

/** bytesOf returns the length of text or bytes in bytes. */
export const bytesOf = v => (typeof v === 'string' ? encoder.encode(v).length : v.length)

/** textOf returns the text of a file, which may be bytes. */
export const textOf = v => (typeof v === 'string' ? v : decoder.decode(v))

/** toBytes returns the bytes of a file, which may be text. */
export const toBytes = v => (typeof v === 'string' ? encoder.encode(v) : v)

/** mebibytes renders a size for a message. */
export const mebibytes = n => `${Math.round((n / (1 << 20)) * 10) / 10} MiB`
