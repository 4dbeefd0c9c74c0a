package description_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/projecthub/hubserver/description"
)

func FuzzParse(f *testing.F) {
	for _, version := range []string{"2.0", "3.0.0", "3.1.0", "3.2.0", "3.9.0"} {
		f.Add([]byte(doc(version, `"paths": {"/a": {"get": {"responses": {"200": {"description": "d"}}}}}`)))
		f.Add([]byte("# \n" + schemas(version, `"A": {"$ref": "#/definitions/B", "type": ["array"], "items": {}}`)))
	}
	f.Add([]byte("openapi: 3.1.0\ninfo: &i {title: t, version: v}\nx-a: [*i, 0x1F, {<<: *i}]\n"))
	for _, test := range wrong {
		if len(test.text) < 300 {
			f.Add([]byte(test.text))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := description.Parse(context.Background(), data, nil)
		if err == nil {
			checkFindings(t, got)
			return
		}
		var invalid *description.Invalid
		if !errors.As(err, &invalid) || len(invalid.Reasons) != 1 {
			t.Fatalf("the error is %v", err)
		}
		for _, reason := range invalid.Reasons {
			if reason.Detail == "" || len(reason.Detail) > 1000 || strings.Contains(reason.Detail, "cannot be checked") {
				t.Errorf("the reason is %q", reason.Detail)
			}
		}
	})
}

func checkFindings(t *testing.T, got *description.Description) {
	t.Helper()
	if !strings.HasPrefix(got.Format, "openapi-") || !strings.HasPrefix(got.MediaType, "application/") || len(got.Findings) > description.MaxFindings {
		t.Errorf("Parse = %+v", got)
	}
	for _, f := range got.Findings {
		if f.Line < 1 || f.Detail == "" || len(f.Detail) > 1000 || len(f.Pointer) > 1000 || strings.Contains(f.Detail, "%!") || f.Severity == "" {
			t.Errorf("the finding is %+v", f)
		}
	}
}
