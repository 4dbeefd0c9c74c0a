import { test } from "node:test";
import assert from "node:assert/strict";
import { edited, lastSave, load, publish, rememberSave, store, subscribe } from "../../editor/kept.js";

globalThis.document = { querySelector: () => null };

// memory is a session storage.
function memory(limit = Infinity) {
  const items = new Map();
  return {
    items,
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, text) => {
      if (text.length > limit) throw new Error("full");
      items.set(name, text);
    },
    removeItem: (name) => items.delete(name),
  };
}

const edits = new Map([
  ["a", { type: "number", input: "1.00", text: "1.00", base: "1.0" }],
  ["b", { removed: true, base: "2" }],
  ["c", { type: "number", input: "1.", base: null }],
]);

test("a draft is kept as it was typed, for who typed it", () => {
  const storage = memory();
  assert.ok(store("@acme/web", { revision: "r", edits }, "alice", storage));
  assert.deepEqual(load("@acme/web", "alice", storage), { revision: "r", edits });
  assert.equal(load("@acme/other", "alice", storage), null);
  assert.equal(load("@acme/web", "bob", storage), null);
  store("@acme/web", { revision: "r", edits: new Map() }, "alice", storage);
  assert.equal(storage.items.size, 0);
});

test("a full storage is reported, a damaged draft ignored", () => {
  assert.equal(store("@acme/web", { revision: "r", edits }, "alice", memory(10)), false);
  const storage = memory();
  for (const text of ["", "{", "null", "1", '{"edits":1}', '{"edits":[1]}', '{"edits":[["a",{"base":1}]]}']) {
    storage.setItem("hub.draft @acme/web alice", text);
    const draft = load("@acme/web", "alice", storage);
    assert.ok(!draft || draft.edits.size === 0, text);
  }
});

test("an edited config needs no editor", () => {
  const storage = memory();
  store("@acme/web", { revision: "r", edits }, "alice", storage);
  const config = '{"a":1.0,"b":2}';
  const of = (revision, user) => edited("@acme/web", { revision, config }, user, storage);
  assert.deepEqual(of("r", "alice"), { revision: "r", dirty: true, config: '{"a":1.00}' });
  assert.deepEqual(of("newer", "alice"), { revision: "newer", dirty: false, config });
  assert.deepEqual(of("r", "bob"), { revision: "r", dirty: false, config });
});

test("the last save can be undone while nothing was saved since", () => {
  const storage = memory();
  rememberSave("@acme/web", "r1", [{ kind: "added", key: "a", to: "1" }], "alice", storage);
  assert.equal(lastSave("@acme/web", "r1", "alice", storage).length, 1);
  assert.equal(lastSave("@acme/web", "r2", "alice", storage), null);
  assert.equal(lastSave("@acme/web", "r1", "bob", storage), null);
});

test("each edit is published on the same page at once", () => {
  const seen = [];
  publish("@acme/web", () => ({ config: "{}" }));
  const end = subscribe("@acme/web", (c) => seen.push(c.config));
  for (const config of ['{"a":1}', '{"a":12}']) publish("@acme/web", () => ({ config }));
  assert.deepEqual(seen, ["{}", '{"a":1}', '{"a":12}']);
  end();
  setTimeout(() => process.exit(), 200); // the channel to other tabs stays open
});
