import { test } from "node:test";
import assert from "node:assert/strict";
import { Publisher, edited, load, store, subscribe } from "../../editor/draft.js";

// memory is a session storage.
function memory(limit = Infinity) {
  const items = new Map();
  return {
    items,
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, text) => { if (text.length > limit) throw new Error("full"); items.set(name, text); },
    removeItem: (name) => items.delete(name),
  };
}

const edits = new Map([["a", { type: "number", input: "1.00", text: "1.00", base: "1.0" }], ["b", { removed: true, base: "2" }], ["c", { type: "number", input: "1.", base: null }]]);

test("a draft is kept as it was typed", () => {
  const storage = memory();
  assert.ok(store("@acme/web", { revision: "r", user: "alice", edits }, storage));
  assert.deepEqual(load("@acme/web", storage), { revision: "r", user: "alice", edits });
  assert.equal(load("@acme/other", storage), null);
  store("@acme/web", { revision: "r", user: "alice", edits: new Map() }, storage);
  assert.equal(storage.items.size, 0);
});

test("a full storage is reported, a damaged draft ignored", () => {
  assert.equal(store("@acme/web", { revision: "r", edits }, memory(10)), false);
  const storage = memory();
  for (const text of ["", "{", "null", "1", '{"edits":1}', '{"edits":[1]}', '{"edits":[["a",{"base":1}]]}']) {
    storage.setItem("hub.draft @acme/web", text);
    const draft = load("@acme/web", storage);
    assert.ok(!draft || draft.edits.size === 0, text);
  }
});

test("an edited config needs no editor", () => {
  const storage = memory();
  store("@acme/web", { revision: "r", edits }, storage);
  const config = '{"a":1.0,"b":2}';
  assert.deepEqual(edited("@acme/web", { revision: "r", config }, storage), { revision: "r", dirty: true, config: '{"a":1.00}' });
  assert.deepEqual(edited("@acme/web", { revision: "newer", config }, storage), { revision: "newer", dirty: false, config });
});

test("a config is published once nothing is typed for a while", async () => {
  const publisher = new Publisher("@acme/web");
  const seen = [];
  const end = subscribe("@acme/web", (c) => seen.push(c));
  for (const config of ["{}", '{"a":1}', '{"a":12}']) publisher.publish(() => ({ revision: "r", dirty: true, config }));
  await new Promise((wake) => {
    const stop = subscribe("@acme/web", (c) => { stop(); wake(c); });
  });
  assert.deepEqual(seen, [{ revision: "r", dirty: true, config: '{"a":12}' }]);
  end();
  publisher.channel.close();
});
