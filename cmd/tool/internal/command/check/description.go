package check

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"

	"example.com/projecthub/cmd/tool/internal/apisource"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
)

var errHoldsSecrets = errors.New("such files hold secrets: a pipeline sends it only with --allow-secrets")

// description checks that the API description exists, that it can be parsed, and that the
// files to which it refers can be read. One at a URL is the hub's to fetch.
func (f *findings) description(client *workspace.Client) {
	if !client.Source.Present() {
		return
	}
	schema, err := client.Schema()
	if err != nil || schema.URL != "" {
		f.fail(err, client.Source.At.File)
		return
	}
	text, err := schema.Read()
	if err == nil {
		err = parse(schema.File, text)
	}
	if err != nil {
		f.fail(err, client.Source.At.File)
		return
	}
	s, err := apisource.Bundle(schema.ReadFile, schema.File)
	if err != nil {
		f.fail(err, schema.File)
		return
	}
	for _, name := range s.Files {
		if basefiles.HoldsSecrets(name) {
			f.warn(errHoldsSecrets, name)
		}
	}
	for _, p := range s.Problems {
		at := workspace.Position{File: p.File, Line: p.Line, Column: p.Column}
		f.fail(&workspace.Blamed{At: at, Err: errors.New(p.Detail)}, schema.File)
	}
}

// parse returns why a text is no API description.
func parse(file string, text []byte) error {
	at := workspace.Position{File: file}
	if at.Line = workspace.ConflictMarker(text); at.Line > 0 {
		at.Column = 1
		return &workspace.Blamed{At: at, Err: errors.New("git conflict markers: the file was merged with conflicts")}
	}
	members, line, err := membersOf(text)
	if err == nil && !slices.Contains(members, "openapi") && !slices.Contains(members, "swagger") {
		err = errors.New("it has neither openapi nor swagger")
	}
	if err == nil {
		return nil
	}
	if at.Line = line; line > 0 {
		at.Column = 1
	}
	return &workspace.Blamed{At: at, Err: fmt.Errorf("the API description is not valid: %w", err)}
}

// membersOf returns the names of a description's members, or the line of what is wrong, 0
// where that is not known.
func membersOf(text []byte) (names []string, line int, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if value := jsontext.Value(text); value.IsValid() && value.Kind() == '{' { // faster than as YAML
		document, err := jsonedit.Parse(text)
		if err != nil {
			return nil, 0, err
		}
		for _, m := range document.Members() {
			names = append(names, m.Name)
		}
		return names, 1, nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, lineOf(err), errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, 1, errors.New("it is not an object")
	}
	root := document.Content[0]
	for i := 0; i < len(root.Content); i += 2 {
		names = append(names, root.Content[i].Value)
	}
	return names, root.Line, nil
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// lineOf returns the line that an error of the parser names, 0 for none.
func lineOf(err error) int {
	found := yamlLine.FindStringSubmatch(err.Error())
	if found == nil {
		return 0
	}
	line, _ := strconv.Atoi(found[1])
	return line
}
