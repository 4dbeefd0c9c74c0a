import assert from "node:assert/strict";
import { test } from "node:test";
import { read } from "../../static/preview/messages.js";
import { untar } from "../../preview/page/tar.js";

const encoder = new TextEncoder();

function member(name, content, type = "0", prefix = "") {
  const body = encoder.encode(content);
  const block = new Uint8Array(512 + Math.ceil(body.length / 512) * 512);
  const put = (at, text) => block.set(encoder.encode(text), at);
  put(0, name);
  put(124, body.length.toString(8).padStart(11, "0"));
  put(156, type);
  put(257, "ustar");
  put(345, prefix);
  block.set(body, 512);
  return block;
}

const join = (...parts) => new Uint8Array(parts.flatMap((p) => [...p]));
const end = new Uint8Array(1024);
const texts = (files) => Object.fromEntries([...files].map(([path, content]) => [path, new TextDecoder().decode(content)]));

test("untar reads regular files, prefixes, and extended names", () => {
  const long = "d/".repeat(80) + "ü.ts";
  const record = ` path=${long}\n`;
  const length = encoder.encode(record).length + 3;
  const files = untar(join(member("a", "1"), member("./b/c", ""), member("d/", "", "5"), member("e", "", "2"), member("f", "2", "0", "pre"), member("PaxHeaders", `${length}${record}`, "x"), member("short", "3"), member("g", "x".repeat(600)), end));
  assert.deepEqual(texts(files), { a: "1", "b/c": "", "pre/f": "2", [long]: "3", g: "x".repeat(600) });
});

test("untar keeps names that objects have", () => {
  const files = untar(join(member("__proto__", "1"), member("constructor", "2"), end));
  assert.deepEqual([...files.keys()], ["__proto__", "constructor"]);
});

test("untar refuses what is cut off", () => {
  const whole = join(member("a", "x".repeat(600)), end);
  for (const length of [0, 100, 512, 900, 1536]) assert.throws(() => untar(whole.subarray(0, length)), /incomplete/, String(length));
});

test("read passes on only what a frame may say", () => {
  for (const odd of [null, undefined, 5, "ready", [], {}, { hub: 5 }, { hub: "constructor" }, { hub: "__proto__" }, { hub: "toString" }, { hub: "shout" }]) assert.equal(read(odd), null);
  assert.deepEqual(read({ hub: "ready", more: 1 }), { type: "ready" });
  assert.deepEqual(read({ hub: "printed", n: 1, level: "shout", text: 5, at: "key" }), { type: "printed", n: 1, level: "info", at: "", text: "" });
  assert.deepEqual(read({ hub: "failed", n: "x", kind: "shout", message: {}, file: 5, line: -1 }), { type: "failed", n: 0, kind: "app", message: "unknown failure", file: "", line: 0, column: 0, trace: "" });
});

test("read bounds everything", () => {
  const long = "x".repeat(1e5);
  const failed = read({ hub: "failed", kind: "app", message: long, file: long, trace: long, line: 1e400 });
  assert.ok(failed.message.length === 4000 && failed.file.length === 1024 && failed.trace.length === 4000 && failed.line === 0);
  const many = (n, v) => Array.from({ length: n }, () => v);
  const generated = read({ hub: "generated", count: 3, previews: many(9999, { name: long }), notes: many(9999, { text: long, level: long }), changes: { count: 5, files: many(99, { path: long, lines: many(9999, [long, long]) }) } });
  assert.equal(generated.previews.length, 500);
  assert.equal(generated.notes.length, 100);
  assert.equal(generated.changes.files.length, 20);
  assert.ok(generated.changes.files.every((f) => f.lines.length === 400 && f.lines.every(([sign, text]) => sign === " " && text.length === 400)));
  for (const odd of [null, 5, {}, [null], [5], [[]]]) assert.ok(read({ hub: "generated", previews: odd, notes: odd, changes: { files: odd } }));
  assert.deepEqual(Object.keys(read({ hub: "painted", times: { a: 1, [long]: 1, b: "x" } }).times), ["a"]);
});
