import { test } from "node:test";
import assert from "node:assert/strict";
import { counts, difference, elements, sign } from "../../editor/difference.js";

const map = (object) => new Map(Object.entries(object));

test("differences are worded as tool push words them", () => {
  const changes = difference(map({ "a": "1", "b": '"x"', "c": "[]" }), map({ "a": "1.0", "c": "[]", "theme.accent": '"red"', "z": "null" }));
  assert.equal(counts(changes), "2 added, 1 changed, 1 removed");
  assert.deepEqual(changes.map((c) => sign(c.kind) + c.key), ["~a", "-b", "+theme.accent", "+z"]);
  assert.equal(counts([]), "no difference");
});

test("arrays are compared element by element", () => {
  assert.deepEqual(elements('["a","b","c"]', '["a","x","c","d"]'), [{ kind: "changed", index: 1, from: '"b"', to: '"x"' }, { kind: "added", index: 3, to: '"d"' }]);
  assert.deepEqual(elements("[1,2,3]", "[2,3]"), [{ kind: "removed", index: 0, from: "1" }]);
  assert.equal(elements("1", "[]"), undefined);
  assert.equal(elements(undefined, "[]"), undefined);
});

test("elements lead from one array to the other", () => {
  const pick = (n) => Math.floor(Math.random() * n);
  for (let round = 0; round < 500; round++) {
    const a = Array.from({ length: pick(6) }, () => String(pick(4)));
    const b = Array.from({ length: pick(6) }, () => String(pick(4)));
    const found = elements(`[${a}]`, `[${b}]`);
    const removed = new Set(found.filter((e) => e.kind === "removed").map((e) => e.index));
    const rest = a.filter((_, i) => !removed.has(i));
    const result = [];
    for (let j = 0; j < b.length; j++) {
      const e = found.find((f) => f.index === j && f.kind !== "removed");
      if (e) result.push(e.to);
      if (!e || e.kind === "changed") {
        const old = rest.shift();
        if (!e) result.push(old);
        else assert.equal(old, e.from);
      }
    }
    assert.deepEqual(result, b, `${a} to ${b}`);
    assert.deepEqual(rest, []);
  }
});
