import { test } from "node:test";
import assert from "node:assert/strict";
import { Schema, choices, fallback, fieldType, limit } from "../../editor/schema.js";

const schema = new Schema(`{
  "type": "object",
  "required": ["title"],
  "properties": {
    "title": {"type": "string", "title": "Title", "description": "Shown at the top.", "minLength": 1, "maxLength": 5},
    "theme": {"$ref": "#/$defs/theme"},
    "number": {"type": "integer", "minimum": 1, "maximum": 9007199254740993},
    "v1.0": {"type": "boolean", "default": true},
    "tags": {"type": "array", "minItems": 1, "items": {"type": "object", "properties": {"label": {"title": "Label"}}}},
    "loop": {"$ref": "#/properties/loop"},
    "__proto__": {"type": "string"}
  },
  "patternProperties": {"^x-": {"type": "null"}},
  "additionalProperties": {"title": "Anything"},
  "$defs": {"theme": {"allOf": [{"properties": {"colour": {"enum": ["teal", "plum"], "default": "teal"}}}, {"properties": {"density": {"type": "number", "exclusiveMinimum": 0}}}]}}
}`);

test("a key's schema is found", () => {
  assert.equal(schema.about("title").title, "Title");
  assert.deepEqual(choices(schema.about("theme.colour")), ['"teal"', '"plum"']);
  assert.equal(fallback(schema.about("theme.colour")), '"teal"');
  assert.equal(fallback(schema.about("v1\\.0")), "true");
  assert.equal(schema.about("x-y").type, "null");
  assert.equal(schema.about("other").title, "Anything");
  assert.equal(schema.about("theme.other"), null);
  assert.equal(schema.member("tags", "label").title, "Label");
  assert.deepEqual(schema.members("tags"), ["label"]);
  assert.deepEqual(["title", "number"].map((key) => schema.requires(key)), [true, false]);
  assert.ok(schema.about("loop"));
  assert.equal(schema.about("__proto__").type, "string");
});

test("fields are made for what the schema names", () => {
  assert.deepEqual(schema.keys(), ["title", "theme.colour", "theme.density", "number", "v1\\.0", "tags", "loop", "__proto__"]);
  assert.deepEqual(["title", "theme.colour", "theme.density", "number", "v1\\.0", "tags"].map((k) => fieldType(schema.about(k))), ["text", "text", "number", "number", "boolean", "list"]);
  assert.equal(limit(schema.about("number"), "minimum"), 1);
  assert.equal(limit(schema.about("title"), "minimum"), undefined);
});

test("a hostile schema costs little", () => {
  const start = process.cpuUsage().user;
  const hostile = new Schema(`{"properties": {"p": {"type":"string","pattern": "(a|aa)+$"}, "a": {"allOf": [${'{"$ref":"#/properties/a"},'.repeat(50)}{}]}}}`);
  new Schema('{"patternProperties": {"(a|aa)+$": {}}}').about(`${"a".repeat(90)}b`);
  hostile.about("a");
  hostile.keys();
  assert.ok(process.cpuUsage().user - start < 2e6);
  assert.throws(() => new Schema("{"));
  assert.equal(new Schema("[]").about("a"), null);
  assert.equal(new Schema('{"properties":{"a":1}}').about("a"), null);
});
