package description_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/description"
)

func FuzzParse(f *testing.F) {
	for _, version := range []string{"2.0", "3.0.0", "3.1.0", "3.2.0", "3.9.0"} {
		f.Add([]byte(doc(version, `"paths": {"/a": {"get": {"responses": {"200": {"description": "d"}}}}}`)))
		f.Add([]byte("# \n" + schemas(version, `"A": {"$ref": "#/definitions/B", "type": ["array"], "items": {}}`)))
	}
	f.Add([]byte("openapi: 3.1.0\ninfo: &i {title: t, version: v}\nx-a: [*i, 0x1F, {<<: *i}]\n"))
	for _, test := range unreadable {
		f.Add([]byte(test.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := description.Parse(context.Background(), data, nil)
		if err != nil {
			var invalid *description.Invalid
			if !errors.As(err, &invalid) {
				t.Fatalf("the error is %v", err)
			}
			if d := invalid.Placed(); d == "" || len(d) > 1000 || strings.Contains(d, "cannot be read") {
				t.Errorf("the reason is %q", d)
			}
			return
		}
		if !strings.HasPrefix(got.Format, "openapi-") || !strings.HasPrefix(got.MediaType, "application/") {
			t.Errorf("Parse = %+v", got)
		}
		got.Targets()
		if text := got.JSON(); !json.Valid(text) || int64(len(text)) > got.JSONBytes {
			t.Errorf("as JSON it is %.300s, of %d bytes", text, len(text))
		}
	})
}
