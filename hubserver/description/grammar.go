package description

import (
	"slices"
	"strconv"
	"strings"
)

// place describes a member of an object: one value of a role, an array of such
// values, or an object whose members have any name and are such values.
type place struct {
	role string
	many kind // array or object; null when there is one value
}

// grammar lists the members of each role. A role is the name of an object in the
// specification, or of a leaf below. The member * is every other one that is not an
// extension.
var grammar = compile(map[string]map[string]string{
	"document": {
		"string": "openapi swagger host basePath jsonSchemaDialect",
		"info":   "info", "paths": "paths", "components": "components", "externalDocs": "externalDocs",
		"[server]": "servers", "[tag]": "tags", "[securityRequirement]": "security",
		"[string]": "schemes consumes produces",
		"{schema}": "definitions", "{parameter}": "parameters", "{response}": "responses",
		"{securityScheme}": "securityDefinitions", "{pathItem}": "webhooks",
	},
	"info": {
		"string":  "title version summary description termsOfService",
		"contact": "contact", "license": "license",
	},
	"contact":        {"string": "name url email"},
	"license":        {"string": "name url identifier"},
	"server":         {"string": "url description", "{serverVariable}": "variables"},
	"serverVariable": {"string": "default description", "[string]": "enum"},
	"tag":            {"string": "name description", "externalDocs": "externalDocs"},
	"externalDocs":   {"string": "url description"},
	"components": {
		"{schema}": "schemas", "{response}": "responses", "{parameter}": "parameters", "{example}": "examples",
		"{requestBody}": "requestBodies", "{header}": "headers", "{securityScheme}": "securitySchemes",
		"{link}": "links", "{callback}": "callbacks", "{pathItem}": "pathItems",
	},
	"paths": {"pathItem": "*"},
	"pathItem": {
		"string":    "summary description",
		"operation": "get put post delete options head patch trace",
		"[server]":  "servers", "[parameter]": "parameters",
	},
	"operation": {
		"string": "summary description operationId", "boolean": "deprecated",
		"[string]":    "tags schemes consumes produces",
		"[parameter]": "parameters", "requestBody": "requestBody", "responses": "responses", "{callback}": "callbacks",
		"[securityRequirement]": "security", "[server]": "servers", "externalDocs": "externalDocs",
	},
	"parameter":   parameterMembers,
	"header":      parameterMembers,
	"requestBody": {"string": "description", "boolean": "required", "{mediaType}": "content"},
	"mediaType":   {"schema": "schema", "data": "example", "{example}": "examples", "{encoding}": "encoding"},
	"encoding":    {"string": "contentType style", "boolean": "explode allowReserved", "{header}": "headers"},
	"responses":   {"response": "*"},
	"response": {
		"string": "description", "schema": "schema", "object": "examples",
		"{header}": "headers", "{mediaType}": "content", "{link}": "links",
	},
	"callback": {"pathItem": "*"},
	"example":  {"string": "summary description externalValue", "data": "value"},
	"link":     {"string": "operationRef operationId description", "server": "server", "object": "parameters", "data": "requestBody"},
	"securityScheme": {
		"string":     "type description name in scheme bearerFormat openIdConnectUrl flow authorizationUrl tokenUrl",
		"oAuthFlows": "flows", "{string}": "scopes",
	},
	"oAuthFlows":          {"oAuthFlow": "implicit password clientCredentials authorizationCode"},
	"oAuthFlow":           {"string": "authorizationUrl tokenUrl refreshUrl", "{string}": "scopes"},
	"securityRequirement": {"strings": "*"},
	"schema": {
		"string": "title description format pattern collectionFormat contentMediaType contentEncoding " +
			"$schema $comment $id $anchor $dynamicRef $dynamicAnchor",
		"boolean": "uniqueItems nullable readOnly writeOnly allowEmptyValue deprecated",
		"number":  "minimum maximum multipleOf", "bound": "exclusiveMinimum exclusiveMaximum",
		"count": "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
		"types": "type", "array": "enum examples", "data": "default example const", "[string]": "required", "{strings}": "dependentRequired",
		"schema": "not if then else items contains additionalProperties propertyNames " +
			"unevaluatedItems unevaluatedProperties contentSchema",
		"[schema]":      "allOf anyOf oneOf prefixItems",
		"{schema}":      "properties patternProperties dependentSchemas $defs",
		"discriminator": "discriminator", "xml": "xml", "externalDocs": "externalDocs",
	},
	"discriminator": {"string": "propertyName", "{string}": "mapping"},
	"xml":           {"string": "name namespace prefix", "boolean": "attribute wrapped"},
})

var parameterMembers = map[string]string{
	"string":  "name in description style collectionFormat format pattern",
	"boolean": "required deprecated allowEmptyValue allowReserved explode uniqueItems exclusiveMinimum exclusiveMaximum",
	"number":  "minimum maximum multipleOf", "count": "minLength maxLength minItems maxItems",
	"types": "type", "array": "enum", "data": "example default",
	"schema": "schema items", "{example}": "examples", "{mediaType}": "content",
}

// compile turns the lists of members by role, where [role] is an array and {role} an
// object of them, into places by member.
func compile(roles map[string]map[string]string) map[string]map[string]place {
	compiled := make(map[string]map[string]place, len(roles))
	for role, holders := range roles {
		compiled[role] = map[string]place{}
		for held, members := range holders {
			p := place{role: strings.Trim(held, "[]{}")}
			switch held[0] {
			case '[':
				p.many = array
			case '{':
				p.many = object
			}
			for _, member := range strings.Fields(members) {
				compiled[role][member] = p
			}
		}
	}
	return compiled
}

// data is the role of values without a meaning in OpenAPI, such as examples.
const data = "data"

// several is the role of an array or object of values of one role.
const several = "several"

// leaves are the roles of values that are not objects of the specification.
var leaves = map[string]func(*node) bool{
	"string":  isString,
	"boolean": isBoolean,
	"number":  isNumber,
	"count":   isCount,
	"bound":   func(n *node) bool { return isNumber(n) || isBoolean(n) },
	"types":   func(n *node) bool { return isString(n) || isStrings(n) },
	"strings": isStrings,
	"array":   func(n *node) bool { return n.kind == array },
	"object":  func(n *node) bool { return n.kind == object },
	data:      func(*node) bool { return true },
}

func isString(n *node) bool  { return n.kind == text }
func isBoolean(n *node) bool { return n.kind == boolean }

func isNumber(n *node) bool {
	_, err := strconv.ParseFloat(n.text, 64)
	return n.kind == number && err == nil
}

func isCount(n *node) bool {
	_, err := strconv.ParseUint(n.text, 10, 64)
	return n.kind == number && err == nil
}

func isStrings(n *node) bool {
	return n.kind == array && !slices.ContainsFunc(n.children, func(c *node) bool { return c.kind != text })
}

// referable are the roles that a reference can replace.
var referable = map[string]bool{
	"schema": true, "response": true, "parameter": true, "example": true, "requestBody": true,
	"header": true, "securityScheme": true, "link": true, "callback": true, "pathItem": true,
}

// words are the names of roles in reasons.
var words = map[string]string{
	"string": "a string", "boolean": "a boolean", "number": "a number", "count": "a whole number of 0 or more",
	"bound": "a number or a boolean", "types": "a string or an array of strings", "strings": "an array of strings",
	"array": "an array", "object": "an object", several: "several values", data: "any value",

	"document": "the whole description", "info": "an info object", "contact": "a contact", "license": "a license",
	"server": "a server", "serverVariable": "a server variable", "tag": "a tag",
	"externalDocs": "an external documentation object", "components": "a components object",
	"paths": "a paths object", "pathItem": "a path item", "operation": "an operation", "parameter": "a parameter",
	"header": "a header", "requestBody": "a request body", "mediaType": "a media type", "encoding": "an encoding",
	"responses": "a responses object", "response": "a response", "callback": "a callback", "example": "an example",
	"link": "a link", "securityScheme": "a security scheme", "oAuthFlows": "an object of OAuth flows",
	"oAuthFlow": "an OAuth flow", "securityRequirement": "a security requirement", "schema": "a schema",
	"discriminator": "a discriminator object", "xml": "an XML object",
}
