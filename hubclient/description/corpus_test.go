package description_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// doc returns a description in JSON: the start of one, and on line 2 more members.
func doc(version, members string) string {
	start := `{"openapi": "` + version + `"`
	if version == "2.0" {
		start = `{"swagger": "2.0"`
	}
	return start + `, "info": {"title": "Pets", "version": "1.2"},` + "\n" + members + `}`
}

// schemas returns a description whose components hold these schemas.
func schemas(version, members string) string {
	if version == "2.0" {
		return doc(version, `"paths": {}, "definitions": {`+members+`}`)
	}
	return doc(version, `"paths": {}, "components": {"schemas": {`+members+`}}`)
}

type object = map[string]any

// large returns a description of about a megabyte: 1,000 operations over 300
// schemas, each of which refers to itself and to the next.
func large(version string) object {
	prefix, schemas := "#/components/schemas/", object{}
	if version == "2.0" {
		prefix = "#/definitions/"
	}
	ref := func(i int) object { return object{"$ref": fmt.Sprintf("%sThing%d", prefix, i%300)} }
	for i := range 300 {
		properties := object{"self": ref(i), "others": object{"type": "array", "items": ref(i + 1)}}
		for j := range 8 {
			properties[fmt.Sprintf("field%d", j)] = object{"type": "string", "maxLength": 40 + j,
				"description": "a field of a thing, described at some length"}
		}
		schemas[fmt.Sprintf("Thing%d", i)] = object{"type": "object", "required": []any{"self"}, "properties": properties}
	}
	paths := object{}
	for i := range 500 {
		operation := func(method string) object {
			answer := object{"description": "a thing as it is now"}
			parameter := object{"name": "id", "in": "path", "required": true}
			if version == "2.0" {
				answer["schema"], parameter["type"] = ref(i), "string"
			} else {
				answer["content"] = object{"application/json": object{"schema": ref(i)}}
				parameter["schema"] = object{"type": "string"}
			}
			return object{
				"operationId": fmt.Sprintf("%sThing%d", method, i), "summary": strings.Repeat("What it does. ", 40),
				"parameters": []any{parameter}, "responses": object{"200": answer},
			}
		}
		paths[fmt.Sprintf("/things%d/{id}", i)] = object{"get": operation("get"), "put": operation("put")}
	}
	description := object{"info": object{"title": "Large", "version": "1.0.0"}, "paths": paths}
	if version == "2.0" {
		description["swagger"], description["definitions"] = version, schemas
	} else {
		description["openapi"], description["components"] = version, object{"schemas": schemas}
	}
	return description
}

func toJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// toYAML writes v in YAML's block style.
func toYAML(v any) string {
	var b strings.Builder
	writeYAML(&b, v, "")
	return b.String()
}

func writeYAML(b *strings.Builder, v any, indent string) {
	switch v := v.(type) {
	case object:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			b.WriteString("\n" + indent + toJSON(name) + ":")
			writeYAML(b, v[name], indent+"  ")
		}
	case []any:
		for _, element := range v {
			b.WriteString("\n" + indent + "-")
			writeYAML(b, element, indent+"  ")
		}
	default:
		b.WriteString(" " + toJSON(v))
	}
}

// each joins what f returns for 0 to n-1 by commas.
func each(n int, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, ",")
}

// repeat joins n copies of s by commas, with 0 to n-1 for %.
func repeat(n int, s string) string {
	return each(n, func(i int) string { return strings.ReplaceAll(s, "%", fmt.Sprint(i)) })
}

// nested returns inner within n pairs of opening and closing.
func nested(n int, opening, inner, closing string) string {
	return strings.Repeat(opening, n) + inner + strings.Repeat(closing, n)
}
