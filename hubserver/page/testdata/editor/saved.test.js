import assert from "node:assert/strict";
import { test } from "node:test";
import { LastSave } from "../../editor/saved.js";

const storage = (text) => ({ getItem: () => text, setItem: (_, t) => { text = t; } });
const changes = [{ kind: "changed", key: "a", from: "1", to: "2" }];

test("the last save is known in the next page, for its revision only", () => {
  const shared = storage(null);
  const last = new LastSave("@acme/web", shared);
  assert.equal(last.changes("r"), null);
  last.remember("r", changes);
  for (const each of [last, new LastSave("@acme/web", shared)]) {
    assert.deepEqual(each.changes("r"), changes);
    assert.equal(each.changes("newer"), null);
  }
});

test("what is stored may be damaged, or nothing be stored", () => {
  for (const text of ["", "{", "null", "1", '{"revision":"r","changes":1}']) assert.equal(new LastSave("@acme/web", storage(text)).changes("r"), null);
  const full = new LastSave("@acme/web", { getItem: () => null, setItem: () => { throw new Error("full"); } });
  full.remember("r", changes);
  assert.deepEqual(full.changes("r"), changes);
});
