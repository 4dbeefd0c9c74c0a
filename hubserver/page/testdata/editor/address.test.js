import assert from "node:assert/strict";
import { test } from "node:test";
import { address, nearest } from "../../editor/address.js";

test("address reads the key of a hash", () => {
  assert.equal(address("#key=theme.colour"), "theme.colour");
  assert.equal(address("#key=a%5C.b%20%26c"), "a\\.b &c");
  for (const other of ["", "#", "#main", "#keys=a", "#key=%E0%A4%A"]) assert.equal(address(other), null, other);
});

test("nearest finds a key, the value that contains it, or the first one below it", () => {
  const keys = ["title", "theme.a\\.b", "theme.sizes", "enrichments"];
  for (const [key, want] of [
    ["title", "title"], ["theme.a\\.b", "theme.a\\.b"], ["theme.sizes.0.px", "theme.sizes"], ["theme", "theme.a\\.b"], ["enrichments.3.label", "enrichments"],
    ["none", undefined], ["them", undefined], ["titles", undefined], ["", undefined], ["a\\", undefined],
  ]) assert.equal(nearest(key, keys), want, key);
});
