import { test } from "node:test";
import assert from "node:assert/strict";
import { compare, kind, parse, pretty, write } from "../../editor/json.js";

test("parse keeps the literal text of numbers", () => {
  for (const number of ["1.0", "1.00", "-0", "1e400", "9007199254740993", "0.1e-7", "12345678901234567890.123456789"]) {
    assert.equal(write(parse(` ${number}\n`)), number);
    assert.equal(write(parse(`[{"a": ${number}}]`)), `[{"a":${number}}]`);
  }
});

test("write is canonical", () => {
  assert.equal(write(parse('{"b" : [ ], "a": {"\\u0061\\/": "\\u003c\\u0001\\t"}, "": null}')), '{"":null,"a":{"a/":"<\\u0001\\t"},"b":[]}');
  assert.equal(write(parse('{"\u{10000}": 1, "\uff61": 2}')), '{"\uff61":2,"\u{10000}":1}');
});

test("every value has a kind", () => {
  const kinds = ["null", "true", "1.0", '"x"', "[]", "{}"].map((text) => kind(parse(text)));
  assert.deepEqual(kinds, ["null", "boolean", "number", "string", "array", "object"]);
});

test("what is no JSON is refused", () => {
  for (const text of ["", "{", "[1,]", "{a:1}", "01", "1.", "NaN", "'a'", '"\n"', "[1] 2", "// 1", "undefined"]) {
    assert.throws(() => parse(text), SyntaxError, text);
  }
});

test("objects have no special members", () => {
  assert.equal(write(parse('{"__proto__":{"a":1},"constructor":2}')), '{"__proto__":{"a":1},"constructor":2}');
});

test("pretty can be read again", () => {
  const text = '[{"a":[1,2],"b":{"c":"x"}},{},[[]],1.0]';
  assert.equal(write(parse(pretty(parse(text)))), text);
  assert.equal(pretty(parse("[1,2]")), "[1, 2]");
});

test("compare is the order of UTF-8 bytes", () => {
  const names = ["", "a", "a-", "a.b", "é", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}"];
  for (let round = 0; round < 50; round++) {
    const mixed = [...names].sort(() => Math.random() - 0.5);
    assert.deepEqual(mixed.sort(compare), names);
  }
  assert.deepEqual([...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))), names);
});

test("parse reads what it wrote, for random values", () => {
  const pick = (...choices) => choices[Math.floor(Math.random() * choices.length)];
  const random = (depth) => {
    switch (pick(0, 1, 2, 3, depth > 3 ? 0 : 4, depth > 3 ? 1 : 5)) {
      case 0: return pick("x", "\u0000", '"\\', "\u2028", "😀", "");
      case 1: return pick(0, -1.5, 1e21, 123456789);
      case 2: return pick(true, false);
      case 3: return null;
      case 4: return Array.from({ length: pick(0, 1, 3) }, () => random(depth + 1));
    }
    return Object.fromEntries(Array.from({ length: pick(0, 1, 3) }, () => [pick("a", "b.c", "\\", "é", "__proto__"), random(depth + 1)]));
  };
  for (let i = 0; i < 500; i++) {
    const value = random(0);
    const text = write(parse(JSON.stringify(value, null, pick(0, 2))));
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
    assert.equal(write(parse(text)), text);
  }
});
