// Files of the tree as data: addresses, the only ones that the app's frame may load.

import { buildFailure } from './failure.js'
import { limits, mebibytes, toBytes } from './limits.js'
import { extension } from './paths.js'

const types = {
  svg: 'image/svg+xml', png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp', avif: 'image/avif', ico: 'image/x-icon',
  woff2: 'font/woff2', woff: 'font/woff', ttf: 'font/ttf', otf: 'font/otf',
  mp4: 'video/mp4', webm: 'video/webm', mp3: 'audio/mpeg', ogg: 'audio/ogg', wav: 'audio/wav',
  json: 'application/json', html: 'text/html', css: 'text/css', txt: 'text/plain', wasm: 'application/wasm', pdf: 'application/pdf',
}

/** typeOf returns the media type that a path's ending stands for. */
export const typeOf = path => (Object.hasOwn(types, extension(path)) ? types[extension(path)] : 'application/octet-stream')

/** Assets makes data: addresses, and keeps them while the file is the same. */
export class Assets {
  #kept = new Map()

  /** address returns the data: address of a file, which importer embeds. */
  address(path, content, importer, line) {
    const kept = this.#kept.get(path)
    if (kept?.content === content) return kept.address
    const size = content?.size ?? content.length
    if (size > limits.linkedFile) throw buildFailure(`${path} is ${mebibytes(size)}: the preview embeds files of at most ${mebibytes(limits.linkedFile)}`, importer, line)
    const address = `data:${typeOf(path)};base64,${base64(toBytes(content))}`
    this.#kept.set(path, { content, address })
    return address
  }
}

function base64(bytes) {
  let text = ''
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode.apply(null, bytes.subarray(i, i + 32768))
  return btoa(text)
}
