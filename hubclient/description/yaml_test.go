package description_test

import "testing"

func TestParse_YAMLSemantics(t *testing.T) {
	start := "openapi: 3.0.0\ninfo: {title: t, version: v}\n"
	for name, text := range map[string]string{
		"numbers as names": "paths:\n  /a:\n    get:\n      responses:\n        200: {description: d}\n        404: " +
			"{description: d}\n",
		"anchors": "paths: {/a: {get: &op {responses: {default: {description: d}}}, put: *op}}\n",
		"merge": "x-a: &a {description: d}\npaths: {/a: {get: {responses: {200: {<<: *a}, 404: {<<: [*a, " +
			"{description: e}]}}}}}\n",
		"merge loses":     "paths: {/a: {get: {responses: {200: {<<: {description: 5}, description: d}}}}}\n",
		"alias as a name": "x-a: &n description\npaths: {/a: {get: {responses: {200: {*n : d}}}}}\n",
		"times are strings": "paths: {}\ncomponents: {schemas: {A: {title: 2020-01-01, description: " +
			"2020-01-01T00:00:00Z}}}\n",
		"yes is a string": "paths: {}\ncomponents: {schemas: {A: {title: yes, description: on}}}\n",
		"numbers of all kinds": "paths: {}\ncomponents: {schemas: {A: {minLength: 0x10, maxLength: 1_000, minItems: 0o17, " +
			"maximum: .5, minimum: +1.5e3}}}\n",
		"booleans of all kinds": "paths: {}\ncomponents: {schemas: {A: {nullable: True, deprecated: !!bool \"true\"}}}\n",
		"tagged strings":        "paths: {}\ncomponents: {schemas: {A: {title: !!str 5, description: !!binary aGk=}}}\n",
		"block scalars":         "paths: {}\ncomponents: {schemas: {A: {}}}\nx-a: |\n  {% a %}\n  --- b\n",
	} {
		t.Run(name, func(t *testing.T) { accepted(t, start+text) })
	}
}
