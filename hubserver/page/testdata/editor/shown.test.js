import assert from "node:assert/strict";
import { test } from "node:test";

import { shown } from "../../editor/keys.js";

test("emoji and text from right to left are shown as they are", () => {
  for (const text of ["👩‍💻", "🏳️‍🌈", "👩🏽‍🚀", "מחשב", "سلام", "é"]) assert.equal(shown(text), text);
});

test("a joiner that nobody sees is written out", () => {
  assert.equal(shown("a\u200db"), "a\\u{200d}b");
  assert.equal(shown("👩\u200d"), "👩\\u{200d}");
});
