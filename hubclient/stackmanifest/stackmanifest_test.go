package stackmanifest

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		manifest Manifest
		err      string
	}{
		`{}`: {},
		`{"name": "@acme/site", "version": "1.0.0", "preview": null, "settings": {}, "x": 1}`: {
			manifest: Manifest{Name: "@acme/site", Version: "1.0.0"}},
		`{"preview": {"module": "mod.ts", "contract": 1, "x": 1}}`: {manifest: Manifest{Module: "mod.ts"}},
		`{"preview": {"module": "mod.ts"}}`:                        {err: "preview.contract must be 1, not 0"},
		`{"preview": {"module": "mod.ts", "contract": 2}}`:         {err: "preview.contract must be 1, not 2"},
		`{"preview": {"module": "../mod.ts", "contract": 1}}`:      {err: "preview.module must be"},
		`{"preview": {"module": "mod.tsx", "contract": 1}}`:        {err: "preview.module must be"},
		`{"preview": {"contract": 1}}`:                             {err: "preview.module must be"},
		`{"preview": 5}`:                                           {err: "malformed"},
		`{"name": 5}`:                                              {err: "malformed"},
		`{`:                                                        {err: "malformed"},
		`[]`:                                                       {err: "malformed"},
		`{"settings": {"schema": "a/s.json", "x": 1}}`:             {manifest: Manifest{Schema: "a/s.json"}},
		`{"settings": "of the stack"}`:                             {},
		`{"settings": {"schema": null}}`:                           {},
		`{"settings": {"schema": 5}}`:                              {err: "settings.schema must be the path"},
		`{"settings": {"schema": ""}}`:                             {err: "settings.schema: "},
		`{"settings": {"schema": "../s.json"}}`:                    {err: "settings.schema: "},
	} {
		got, err := Parse([]byte(text))
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %v", text, err)
			}
		} else if err != nil || got != want.manifest {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
