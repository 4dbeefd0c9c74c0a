package app

import (
	"errors"
	"fmt"

	"example.com/projecthub/cmd/tool/internal/apisource"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/pat"
)

// Description is an API description of a local project, with the files to which it refers.
type Description struct {
	Text  []byte
	Files []string // that it was made of, relative to the workspace, with /
	Notes []string // about references that lead nowhere
}

// ReadDescription reads the API description in a file of a local project.
func ReadDescription(schema *workspace.Schema) (Description, error) {
	if _, err := schema.Read(); err != nil { // with the position of the source
		return Description{}, err
	}
	s, err := apisource.Bundle(DescriptionFiles(schema), schema.File)
	if err != nil {
		return Description{}, failure.New(failure.CodeInvalidFile, "%w", err)
	}
	if i := pat.Index(s.Document); i >= 0 {
		return Description{}, failure.New(failure.CodeTokenInFile, "the API description %s contains an access token (%s…)", schema.File, pat.Shown(string(s.Document[i:i+pat.Length]))).
			WithHint("remove it from the file, and revoke it: everyone who can read the file can use it")
	}
	d := Description{Text: s.Document, Files: s.Files}
	if len(s.Problems) == 0 {
		return d, nil
	}
	first := s.Problems[0].String()
	if more := len(s.Problems) - 1; more > 0 {
		first += fmt.Sprintf(" (and %d more)", more)
	}
	d.Notes = []string{"the API description refers to what does not exist: " + first}
	return d, nil
}

// DescriptionFiles reads the files of an API description, but none that probably holds
// secrets: everyone who can see the API could read them.
func DescriptionFiles(schema *workspace.Schema) apisource.ReadFile {
	return func(name string) (data []byte, inside string, err error) {
		if data, inside, err = schema.ReadFile(name); err == nil && inside != schema.File && basefiles.HoldsSecrets(inside) {
			return nil, "", errors.New("such files hold secrets")
		}
		return data, inside, err
	}
}
