// keys.js knows how flat keys are written: names joined by dots, with \. and \\ for a
// dot and a backslash inside a name. It knows nothing of values.

// splitKey returns the names that a key consists of. It throws an Error on a backslash
// that escapes nothing.
export function splitKey(key) {
  if (!key.includes("\\")) return key.split(".");
  const path = [];
  let name = "";
  for (let i = 0; i < key.length; i++) {
    const c = key[i];
    if (c === ".") {
      path.push(name);
      name = "";
    } else if (c !== "\\") {
      name += c;
    } else if (key[i + 1] === "." || key[i + 1] === "\\") {
      name += key[++i];
    } else {
      throw new Error("a \\ in a key must be followed by . or \\");
    }
  }
  path.push(name);
  return path;
}

// joinKey returns the key of a path of names.
export const joinKey = (path) => path.map(escapeName).join(".");

// escapeName returns a name as it is written in a key.
const escapeName = (name) => name.replace(/[.\\]/g, "\\$&");

// firstSegment returns the part of a key before its first separator, as it is written.
export function firstSegment(key) {
  for (let i = 0; i < key.length; i++) {
    if (key[i] === "\\") i++;
    else if (key[i] === ".") return key.slice(0, i);
  }
  return key;
}

// keyProblem returns why a key is not valid, "" if it is.
export function keyProblem(key) {
  if (/\p{Surrogate}/u.test(key)) return "the key contains half of a surrogate pair";
  try {
    splitKey(key);
  } catch (error) {
    return error.message;
  }
  return "";
}

// parents returns the keys of the objects that a key is in.
export function parents(key) {
  const all = [];
  for (let i = 0; i < key.length; i++) {
    if (key[i] === "\\") i++;
    else if (key[i] === ".") all.push(key.slice(0, i));
  }
  return all;
}

// clash returns a key among keys that cannot exist together with key, because one of
// them is the path to the other; undefined if there is none. keys is a Map or a Set.
export function clash(key, keys) {
  const above = parents(key).find((k) => keys.has(k));
  if (above !== undefined) return above;
  const below = key + ".";
  for (const k of keys.keys()) if (k.startsWith(below)) return k;
  return undefined;
}

// shown returns text with what cannot be seen, or would turn the text around it, written
// as escapes: two keys that differ never look the same. What joins two pictures of an emoji is seen.
export const shown = (text) => text.replace(invisible, (c) => `\\u{${c.codePointAt(0).toString(16).padStart(4, "0")}}`);

const joined = String.raw`(?<=\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]?)\u200d(?=\p{Extended_Pictographic})`;
const invisible = new RegExp(String.raw`(?!${joined})[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}`, "gu");
