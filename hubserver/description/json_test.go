package description_test

import "testing"

func TestJSON_KeepsNumbersReferencesAndOrder(t *testing.T) {
	const source = "openapi: 3.1.0\ninfo: {title: Pets, version: '1'}\npaths:\n  /pets: {$ref: '#/x'}\nx: [1.50, 1e3, " +
		"true, null, \"a\\n\\\"b\", __proto__]\n"
	const want = `{"openapi":"3.1.0","info":{"title":"Pets","version":"1"},"paths":{"/pets":{"$ref":"#/x"}},"x":[1.50,1e3,true,null,"a\n\"b","__proto__"]}`
	d := accepted(t, source)
	got := d.JSON()
	if string(got) != want || d.JSONBytes < int64(len(want)) {
		t.Errorf("at most %d bytes\n got %s\nwant %s", d.JSONBytes, got, want)
	}
	if again := accepted(t, string(got)).JSON(); string(again) != want {
		t.Errorf("again %s", again)
	}
}
