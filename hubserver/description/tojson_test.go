package description_test

import (
	"testing"

	"example.com/projecthub/hubserver/description"
)

func TestJSON_KeepsNumbersReferencesAndOrder(t *testing.T) {
	const source = "openapi: 3.1.0\ninfo: {title: Pets, version: '1'}\npaths:\n  /pets: {$ref: '#/x'}\nx: [1.50, 1e3, true, null, \"a\\n\\\"b\", __proto__]\n"
	const want = `{"openapi":"3.1.0","info":{"title":"Pets","version":"1"},"paths":{"/pets":{"$ref":"#/x"}},"x":[1.50,1e3,true,null,"a\n\"b","__proto__"]}`
	var most int64
	got, err := description.JSON(t.Context(), []byte(source), func(bytes int64) error { most = max(most, bytes); return nil })
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	if most == 0 {
		t.Error("no memory was reserved")
	}
	if again, err := description.JSON(t.Context(), got, func(int64) error { return nil }); err != nil || string(again) != want {
		t.Errorf("%v\n got %s", err, again)
	}
}
