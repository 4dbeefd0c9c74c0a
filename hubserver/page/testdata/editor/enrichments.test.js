import { test } from "node:test";
import assert from "node:assert/strict";
import { Targets, isEnrichment, isReference, readArray, recordKey, recordOf, writeArray } from "../../editor/enrichments.js";

test("an array of records can be read and written", () => {
  const text = '[{"label":"All","order":1.0,"target":"listPets"},{}]';
  const records = readArray(text);
  assert.deepEqual(records.map((r) => [...r]), [[["label", '"All"'], ["order", "1.0"], ["target", '"listPets"']], []]);
  assert.equal(writeArray(records), text);
  records[1].set("a", "2.50");
  records[0].delete("label");
  assert.equal(writeArray(records), '[{"order":1.0,"target":"listPets"},{"a":2.50}]');
  assert.equal(readArray("[1]"), null);
  assert.equal(readArray('"x"'), null);
});

test("an object of records has a key for each member", () => {
  assert.equal(recordOf("enrichments.list\\.Pets.label"), "list.Pets");
  assert.equal(recordOf("enrichments"), null);
  assert.equal(recordOf("enrichmentsx.a"), null);
  assert.equal(recordKey("list.Pets", "label"), "enrichments.list\\.Pets.label");
  assert.ok(isEnrichment("enrichments") && isEnrichment("enrichments.a") && !isEnrichment("enrichmentsx"));
  assert.ok(isReference(["target"]) && isReference(["operation"]) && !isReference(["a", "target"]) && !isReference(["label"]));
});

const api = {
  operations: [{ operationId: "listPets", method: "GET", path: "/pets/{id}" }, { operationId: "", method: "POST", path: "/pets" }],
  schemas: [{ name: "Pet", pointer: "#/components/schemas/Pet", properties: ["name", "a/b"] }],
  complete: true,
};

test("targets are operations, paths, schemas and properties", () => {
  const targets = new Targets(api);
  for (const target of [
    "listPets", "GET /pets/{id}", "get /pets/{id}", "POST /pets", "/pets", "Pet", "Pet.name", "#/components/schemas/Pet", "#/components/schemas/Pet/properties/a~1b", "#/paths/~1pets/post",
  ]) assert.ok(targets.has(target), target);
  for (const target of ["", "listpets", "GET /pets", "Pet.age", "Dog", "__proto__", "get", "GET /pets/{id} x"]) assert.ok(!targets.has(target), target);
  assert.deepEqual(targets.suggest("pet."), ["Pet.name", "Pet.a/b"]);
});

test("nothing is marked in an API that is not listed completely", () => {
  assert.ok(new Targets({ ...api, complete: false }).has("anything"));
});
