// Reads a tar, as the hub sends base files and bundles.

const decoder = new TextDecoder();

// field returns the text of a header's field.
const field = (block, at, length) => decoder.decode(block.subarray(at, at + length)).split("\0", 1)[0];

// number reads a number in octal, or in base 256 when it is large.
function number(block, at, length) {
  if (block[at] & 0x80) return block.subarray(at + 1, at + length).reduce((n, byte) => n * 256 + byte, 0);
  return parseInt(field(block, at, length).trim() || "0", 8);
}

// records reads the extended header of a member: lines of "length name=value".
function records(bytes) {
  const all = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(decoder.decode(bytes.subarray(at, space)));
    if (space < 0 || !(length > 0)) break;
    const text = decoder.decode(bytes.subarray(space + 1, at + length - 1));
    const equals = text.indexOf("=");
    Object.defineProperty(all, text.slice(0, equals), { value: text.slice(equals + 1), configurable: true });
    at += length;
  }
  return all;
}

// untar returns the regular files of a tar, by path. It throws if the tar is incomplete.
export function untar(bytes) {
  const files = new Map();
  let more = {};
  for (let at = 0; ; ) {
    const block = bytes.subarray(at, at + 512);
    if (block.length < 512) throw new Error("the archive is incomplete");
    if (block.every((byte) => byte === 0)) return files;
    const prefix = field(block, 257, 5) === "ustar" ? field(block, 345, 155) : "";
    const name = more.path ?? (prefix && prefix + "/") + field(block, 0, 100);
    const size = more.size === undefined ? number(block, 124, 12) : Number(more.size);
    const content = bytes.subarray(at + 512, at + 512 + size);
    if (content.length < size) throw new Error("the archive is incomplete");
    at += 512 + Math.ceil(size / 512) * 512;
    const type = String.fromCharCode(block[156]);
    if (type === "x") {
      more = records(content);
      continue;
    }
    if (type === "L") {
      more = { path: field(content, 0, size) };
      continue;
    }
    more = {};
    if (type === "0" || type === "\0") files.set(name.replace(/^\.\//, ""), content);
  }
}
