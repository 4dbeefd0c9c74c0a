import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { Model, readConfig, undoing, writeConfig } from "../../editor/model.js";
import { clashes, firstSegment, joinKey, keyProblem, shown, splitKey } from "../../editor/keys.js";

const model = (config) => new Model({ revision: "r1", values: readConfig(config) });

const vectors = JSON.parse(readFileSync(new URL("../../../../hubclient/flat/testdata/vectors.json", import.meta.url)));

test("a config has the revision that the hub gives it", () => {
  for (const { name, text, canonical, revision } of vectors.configs) {
    const written = writeConfig(readConfig(text));
    assert.equal(written, canonical, name);
    assert.equal(createHash("sha256").update(written).digest("hex"), revision, name);
  }
});

test("what the hub accepts as a key is one", () => {
  for (const { name, text } of vectors.configs) for (const key of readConfig(text).keys()) assert.equal(keyProblem(key), "", name);
});

test("what the hub refuses is refused, or is a problem", () => {
  for (const { name, text } of vectors.refusedConfigs) {
    let values;
    try {
      values = readConfig(text);
    } catch {
      continue;
    }
    const bad = [...values].some(([key, value]) => keyProblem(key) !== "" || (value[0] === "{" && value !== "{}") || value.length > 10000);
    assert.ok(bad || clashes(values.keys()).size > 0, `${name}: ${text.slice(0, 200)}`);
  }
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

test("a change is marked, and undone by typing the old value", () => {
  const m = model('{"theme.size":1.0,"title":"Pets"}');
  m.set("theme.size", "number", "1.00");
  assert.equal(m.field("theme.size").state, "changed");
  assert.deepEqual(m.changes(), [{ kind: "changed", key: "theme.size", from: "1.0", to: "1.00" }]);
  assert.equal(m.patch(), '{"set":{"theme.size":1.00},"remove":[]}');
  m.set("theme.size", "number", "1.0");
  assert.equal(m.dirty, false);
});

test("numbers keep their literal text from the hub to the patch", () => {
  const literal = "123456789012345678901234567890.10e+5";
  const m = model(`{"n":${literal},"m":1}`);
  assert.equal(m.field("n").input, literal);
  m.set("m", "number", literal);
  assert.equal(m.patch(), `{"set":{"m":${literal}},"remove":[]}`);
  assert.equal(writeConfig(m.values()), `{"m":${literal},"n":${literal}}`);
});

test("a value that is none yet is kept and not saved", () => {
  const m = model('{"n":1}');
  m.set("n", "number", "1.");
  assert.equal(m.field("n").input, "1.");
  assert.notEqual(m.problem("n"), "");
  assert.deepEqual(m.problems(), ["n"]);
  assert.deepEqual(m.changes(), []);
  assert.equal(m.values().get("n"), "1");
});

test("keys that exclude each other are refused", () => {
  const m = model('{"a.b":1,"c":2,"d.e.f":3}');
  assert.match(m.add("a", "text", ""), /below it/);
  assert.match(m.add("c.d", "text", ""), /holds a value/);
  assert.match(m.add("d.e", "text", ""), /below it/);
  assert.match(m.add("c", "text", ""), /exists already/);
  assert.match(m.add("x\\y", "text", ""), /followed by/);
  assert.equal(m.add("a.bc", "text", ""), "");
  assert.equal(m.add("", "text", ""), "");
  assert.equal(m.add("c\\.d", "text", ""), "");
  m.remove("c");
  assert.equal(m.add("c.d", "number", "1"), "");
  assert.equal(m.problem("c.d"), "");
  m.reset("c");
  assert.match(m.problem("c.d"), /cannot both/);
});

test("an added key that is removed leaves nothing", () => {
  const m = model("{}");
  m.add("a", "text", "x");
  m.remove("a");
  assert.equal(m.dirty, false);
  assert.deepEqual(m.keys(), []);
});

test("a removed key stays visible, and can be reset", () => {
  const m = model('{"a":1}');
  m.remove("a");
  assert.deepEqual([m.keys(), m.field("a").state, m.has("a")], [["a"], "removed", false]);
  assert.equal(m.patch(), '{"set":{},"remove":["a"]}');
  m.reset("a");
  assert.equal(m.dirty, false);
});

test("groups are by first segment", () => {
  const m = model('{"b.x":1,"a":2,"a\\\\.b.c":3,"":4,"b.y":5}');
  assert.deepEqual([...m.groups()], [["", ["", "a"]], ["a\\.b.", ["a\\.b.c"]], ["b.", ["b.x", "b.y"]]]);
});

test("an undo is the opposite change", () => {
  const m = model('{"a":1,"b":[1.0],"c":"x"}');
  m.set("a", "text", "one");
  m.remove("b");
  m.add("d", "null", "");
  const changes = m.changes();
  const after = new Model({ revision: "r2", values: m.values() });
  after.rebase(after.base, undoing(changes));
  assert.equal(writeConfig(after.values()), '{"a":1,"b":[1.0],"c":"x"}');
  assert.equal(after.patch(), '{"set":{"a":1,"b":[1.0]},"remove":["d"]}');
});
