import { test } from "node:test";
import assert from "node:assert/strict";
import { Index } from "../../editor/search.js";

test("all words are found, in key or value", () => {
  const index = new Index([["theme.colour", '"Teal"'], ["theme.size", "1.0"], ["title", '"Pet store"']]);
  assert.deepEqual([...index.search("THEME teal")], ["theme.colour"]);
  assert.deepEqual([...index.search("1.0")], ["theme.size"]);
  assert.deepEqual([...index.search("pet")], ["title"]);
  assert.deepEqual([...index.search("nothing")], []);
  assert.equal(index.search("  "), undefined);
  index.update("title", '"Dogs"');
  index.update("theme.size", undefined);
  assert.deepEqual([...index.search("dog")], ["title"]);
  assert.deepEqual([...index.search("theme")], ["theme.colour"]);
});
