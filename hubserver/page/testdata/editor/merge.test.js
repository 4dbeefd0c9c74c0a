import { test } from "node:test";
import assert from "node:assert/strict";
import { apply, editOf, readConfig, writeConfig } from "../../editor/edits.js";
import { merge, remaining, resolve } from "../../editor/merge.js";

// edit makes edits of a config.
function edit(config, change) {
  const values = typeof config === "string" ? readConfig(config) : config;
  const m = { edits: new Map(), values: () => apply(values, m.edits) };
  const before = (key) => values.get(key) ?? null;
  m.reset = (key) => m.edits.delete(key);
  m.set = (key, type, input) => {
    const made = editOf(type, input, before(key));
    if (made) m.edits.set(key, made);
    else m.reset(key);
  };
  m.add = m.set;
  m.remove = (key) => (before(key) === null ? m.reset(key) : m.edits.set(key, { removed: true, base: before(key) }));
  change(m);
  return m;
}

const after = (newer, edits) => writeConfig(apply(readConfig(newer), edits));

test("changes of different keys are merged", () => {
  const m = edit('{"a":1,"b":2,"c":3}', (m) => { m.set("a", "number", "10"); m.remove("c"); m.add("d", "text", "x"); });
  const newer = '{"a":1,"b":20,"c":3,"e":5}';
  const { kept, same, conflicts } = merge(m.edits, readConfig(newer));
  assert.deepEqual([same, conflicts], [[], []]);
  assert.equal(after(newer, kept), '{"a":10,"b":20,"d":"x","e":5}');
});

test("the same change is no conflict", () => {
  const m = edit('{"a":1,"b":2}', (m) => { m.set("a", "number", "10"); m.remove("b"); m.add("c", "null", ""); });
  const { kept, same, conflicts } = merge(m.edits, readConfig('{"a":10,"c":null}'));
  assert.deepEqual([kept.size, same, conflicts.length], [0, ["a", "b", "c"], 0]);
});

test("different changes of a key are a conflict with three values", () => {
  const m = edit('{"a":1,"b":2,"c":3}', (m) => { m.set("a", "number", "10"); m.remove("b"); m.set("c", "number", "30"); m.add("d", "text", "mine"); });
  const { kept, conflicts } = merge(m.edits, readConfig('{"a":11,"b":22,"d":"theirs"}'));
  assert.equal(kept.size, 0);
  assert.deepEqual(conflicts.map(({ key, base, theirs, mine }) => [key, base, theirs, mine]), [
    ["a", "1", "11", "10"], ["b", "2", "22", null], ["c", "3", null, "30"], ["d", null, '"theirs"', '"mine"'],
  ]);
});

test("each choice is applied", () => {
  const newer = '{"a":11,"b":22}';
  const m = edit('{"a":1,"b":2}', (m) => { m.set("a", "number", "10"); m.set("b", "number", "20"); });
  const { kept, conflicts } = merge(m.edits, readConfig(newer));
  const choices = new Map([["a", "mine"], ["b", "theirs"]]);
  const edits = resolve(kept, conflicts, choices, readConfig(newer));
  assert.equal(after(newer, edits), '{"a":10,"b":22}');
  assert.equal(edits.get("a").base, "11");
});

test("keys that exclude each other are a conflict", () => {
  const newer = '{"a":1,"b.c.d":2,"b.e":3}';
  const m = edit("{}", (m) => { m.add("a.x", "text", "mine"); m.add("b", "text", "mine"); });
  const { kept, conflicts } = merge(m.edits, readConfig(newer));
  assert.deepEqual(conflicts.map((c) => [c.key, c.blocks]), [["a.x", "a"], ["b", "b.c.d"]]);
  assert.equal(after(newer, resolve(kept, conflicts, new Map([["a.x", "mine"], ["b", "mine"]]), readConfig(newer))), '{"a.x":"mine","b":"mine"}');
  assert.equal(after(newer, resolve(kept, conflicts, new Map([["a.x", "theirs"], ["b", "theirs"]]), readConfig(newer))), newer);
});

test("a key whose place was cleared by an edit is no conflict", () => {
  const m = edit('{"a":1}', (m) => { m.remove("a"); m.add("a.b", "number", "2"); });
  const { kept, conflicts } = merge(m.edits, readConfig('{"a":1,"z":0}'));
  assert.deepEqual([kept.size, conflicts], [2, []]);
});

test("nothing that was typed is lost", () => {
  const m = edit('{"a":1}', (m) => m.set("a", "number", "1."));
  const { kept, conflicts } = merge(m.edits, readConfig('{"a":2}'));
  assert.equal(conflicts[0].edit.input, "1.");
  const mine = resolve(kept, conflicts, new Map([["a", "mine"]]), readConfig('{"a":2}'));
  assert.equal(mine.get("a").input, "1.");
});

test("random edits on both sides: no key of one side alone is lost", () => {
  const keys = ["a", "b", "c", "d", "e"];
  const pick = (n) => Math.floor(Math.random() * n);
  for (let round = 0; round < 500; round++) {
    const config = () => new Map(keys.filter(() => pick(3) > 0).map((k) => [k, String(pick(3))]));
    const base = config();
    const theirs = config();
    const m = edit(base, (m) => {
      for (const k of keys) if (pick(2)) pick(2) ? m.set(k, "number", String(pick(3))) : m.remove(k);
    });
    const mine = m.values();
    const { kept, conflicts } = merge(m.edits, theirs);
    const result = new Map(theirs);
    for (const [k, e] of kept) if (e.removed) result.delete(k); else result.set(k, e.text);
    for (const k of keys) {
      const [b, t, y] = [base, theirs, mine].map((c) => c.get(k));
      const conflict = conflicts.some((c) => c.key === k);
      assert.equal(conflict, b !== t && b !== y && t !== y, `${k}: ${b} ${t} ${y}`);
      if (!conflict) assert.equal(result.get(k), b === t ? y : t, `${k}: ${b} ${t} ${y}`);
    }
  }
});

test("what is typed while a save is on its way is still to be saved", () => {
  const before = '{"a":1,"b":2,"c":3,"d":4}';
  const m = edit(before, (m) => { m.set("a", "number", "10"); m.set("b", "number", "20"); m.remove("c"); m.add("e", "text", "new"); });
  const sent = new Map(m.edits);
  const saved = m.values();
  m.set("a", "number", "11"); // once more
  m.reset("b");
  m.set("d", "number", "40"); // another key
  m.set("c", "number", "33"); // after its removal
  m.remove("e");
  const left = remaining(sent, m.edits, readConfig(before), saved);
  assert.equal(after(writeConfig(saved), left), '{"a":11,"b":2,"c":33,"d":40}');
  assert.deepEqual([...left].map(([k, e]) => [k, e.base]).sort(), [["a", "10"], ["b", "20"], ["c", null], ["d", "4"], ["e", '"new"']]);
  assert.equal(remaining(sent, sent, readConfig(before), saved).size, 0);
});
