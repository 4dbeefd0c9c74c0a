import { test } from "node:test";
import assert from "node:assert/strict";
import { convert, toInput, toText, typeOf } from "../../editor/values.js";

test("every value can be shown and read again", () => {
  for (const text of ['""', '"a\\n\\"b\\\\"', "1.0", "-0", "1e400", "true", "false", "null", "{}", "[]", '{"$secret":"STRIPE_KEY"}', '[1.0,{"a":[]},"x"]', '"\u2028</script>"']) {
    assert.deepEqual(toText(toInput(text)), { text });
  }
  assert.deepEqual(['""', "1", "true", "null", "{}", "[]"].map(typeOf), ["text", "number", "boolean", "null", "object", "list"]);
  assert.equal(typeOf('{"$secret":"STRIPE_KEY"}'), "secret");
});

test("what is typed is checked", () => {
  for (const [type, input] of [["number", ""], ["number", "1,5"], ["number", "01"], ["number", "+1"], ["number", "1."], ["number", "NaN"], ["boolean", ""], ["list", ""], ["list", "{}"], ["list", "[1,]"], ["text", "\ud800"], ["secret", ""], ["secret", "stripe"]]) {
    const { text, error } = toText({ type, input });
    assert.equal(text, undefined, `${type} ${input}`);
    assert.ok(error.length > 0);
  }
  assert.deepEqual(toText({ type: "number", input: " 1.50 " }), { text: "1.50" });
  assert.match(toText({ type: "number", input: "1,5" }).error, /1\.5/);
});

test("a change of type keeps what was typed", () => {
  const field = { type: "text", input: "12" };
  assert.equal(convert(field, "number"), "12");
  assert.equal(convert(field, "list"), '["12"]');
  assert.equal(convert({ type: "number", input: "12" }, "list"), "[12]");
  assert.equal(convert({ type: "text", input: "true" }, "boolean"), "true");
  assert.equal(convert({ type: "text", input: "" }, "list"), "[]");
  assert.equal(convert({ type: "text", input: "x" }, "null"), "");
  assert.equal(convert({ type: "text", input: "sk_live_x" }, "secret"), ""); // which is no name
});
