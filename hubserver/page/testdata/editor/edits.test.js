import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { apply, changesOf, editOf, newKeyProblem, problems, readConfig, readSettings, undoing, writeConfig, writePatch, writeSettings } from "../../editor/edits.js";
import { firstSegment, joinKey, keyProblem, shown, splitKey } from "../../editor/keys.js";

const vectors = JSON.parse(readFileSync(new URL("../../../../hubclient/flat/testdata/vectors.json", import.meta.url)));

test("a config has the revision that the hub gives it", () => {
  for (const { name, text, canonical, revision } of vectors.configs) {
    const written = writeConfig(readConfig(text));
    assert.equal(written, canonical, name);
    assert.equal(createHash("sha256").update(written).digest("hex"), revision, name);
  }
});

test("settings are read and written as client.json has them", () => {
  const read = (text) => writeConfig(readSettings(text));
  assert.equal(read('{"title": "Pets", "pages": {"index.html": true, "a\\\\b": {}}, "key": {"$secret": "A_KEY"}, "size": 1.0}'),
    '{"key":{"$secret":"A_KEY"},"pages.a\\\\\\\\b":{},"pages.index\\\\.html":true,"size":1.0,"title":"Pets"}');
  for (const { name, text, canonical } of vectors.configs) assert.equal(read(writeSettings(readConfig(text))), canonical, name);
  assert.equal(read('{"__proto__": {"a": 1}}'), '{"__proto__.a":1}');
  assert.throws(() => read("[]"), { message: "The settings start with { and end with }." });
  assert.throws(() => read("{"), SyntaxError);
});

test("what the hub accepts as a key is one", () => {
  for (const { name, text } of vectors.configs) for (const key of readConfig(text).keys()) assert.equal(keyProblem(key), "", name);
});

test("keys are split and joined", () => {
  for (const key of ["", ".", "a.b", "a\\.b.c", "\\\\", "a\\\\.b", "..", "ü.\\."]) assert.equal(joinKey(splitKey(key)), key);
  for (const key of ["\\", "a\\b", "a\\\\\\"]) assert.throws(() => splitKey(key));
  assert.equal(firstSegment("a\\.b.c"), "a\\.b");
  assert.equal(firstSegment("title"), "title");
});

test("keys that look alike are shown differently", () => {
  assert.equal(shown("a\u202eb\u200b\u00a0c d"), "a\\u{202e}b\\u{200b}\\u{00a0}c d");
});

// edited returns the edits of a config that set keys to inputs, by type.
const edited = (values, inputs) => new Map(Object.entries(inputs).map(([key, [type, input]]) =>
  [key, type === "removed" ? { removed: true, base: values.get(key) } : editOf(type, input, values.get(key) ?? null)]));

const patch = (values, edits) => writePatch(changesOf(values, edits), edits);

test("a change is marked, and undone by typing the old value", () => {
  const values = readConfig('{"theme.size":1.0,"title":"Pets"}');
  const edits = edited(values, { "theme.size": ["number", "1.00"] });
  assert.deepEqual(changesOf(values, edits), [{ kind: "changed", key: "theme.size", from: "1.0", to: "1.00" }]);
  assert.equal(patch(values, edits), '{"set":{"theme.size":1.00},"remove":[]}');
  assert.equal(editOf("number", "1.0", "1.0"), undefined);
});

test("numbers keep their literal text from the hub to the patch", () => {
  const literal = "123456789012345678901234567890.10e+5";
  const values = readConfig(`{"n":${literal},"m":1}`);
  const edits = edited(values, { m: ["number", literal] });
  assert.equal(patch(values, edits), `{"set":{"m":${literal}},"remove":[]}`);
  assert.equal(writeConfig(apply(values, edits)), `{"m":${literal},"n":${literal}}`);
});

test("a value that is none yet is kept and not saved", () => {
  const values = readConfig('{"n":1}');
  const edits = edited(values, { n: ["number", "1."] });
  assert.deepEqual([...problems(values, edits).keys()], ["n"]);
  assert.deepEqual(changesOf(values, edits), []);
  assert.equal(apply(values, edits).get("n"), "1");
});

test("a list is sent as it was typed", () => {
  const edits = edited(new Map(), { a: ["list", '[{"x":1,"x":2}]'] });
  assert.equal(patch(new Map(), edits), '{"set":{"a":[{"x":1,"x":2}]},"remove":[]}');
});

test("keys that exclude each other are refused", () => {
  const keys = new Set(["a.b", "c", "d.e.f"]);
  for (const [key, why] of [["a", /below it/], ["c.d", /holds a value/], ["d.e", /below it/], ["c", /exists already/], ["x\\y", /followed by/]]) {
    assert.match(newKeyProblem(key, keys), why);
  }
  for (const key of ["a.bc", "", "c\\.d"]) assert.equal(newKeyProblem(key, keys), "");
  const values = readConfig('{"c":2}');
  assert.equal(problems(values, edited(values, { c: ["removed"], "c.d": ["number", "1"] })).size, 0);
  assert.match(problems(values, edited(values, { "c.d": ["number", "1"] })).get("c.d"), /cannot both/);
});

test("an undo is the opposite change", () => {
  const values = readConfig('{"a":1,"b":[1.0],"c":"x"}');
  const edits = edited(values, { a: ["text", "one"], b: ["removed"], d: ["null", ""] });
  const saved = apply(values, edits);
  const undo = undoing(changesOf(values, edits));
  assert.equal(writeConfig(apply(saved, undo)), '{"a":1,"b":[1.0],"c":"x"}');
  assert.equal(patch(saved, undo), '{"set":{"a":1,"b":[1.0]},"remove":["d"]}');
});
