package description_test

import (
	"strings"
	"testing"

	"example.com/projecthub/hubclient/description"
)

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

// A control character takes six bytes in JSON, and an alias repeats a long text of them.
func TestJSON_EndsOnceItIsTooLong(t *testing.T) {
	d := accepted(t, "openapi: 3.0.0\npaths: {}\nx-a: &a \""+strings.Repeat(`\x01`, 1<<18)+"\"\nx-b: ["+
		strings.Repeat("*a,", 120)+"]")
	before := allocated()
	if n := len(d.JSON()); n <= description.MaxJSON {
		t.Errorf("it has %d bytes", n)
	}
	if got := allocated() - before; got > 3*description.MaxJSON {
		t.Errorf("%d MiB were allocated", got>>20)
	}
}
