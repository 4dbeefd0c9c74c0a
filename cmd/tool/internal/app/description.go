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

// ReadDescription returns the API description in a file of a local project, with the files
// to which it refers, and notes about references that lead nowhere. With strict they are
// a failure.
func ReadDescription(schema *workspace.Schema, strict bool) (document []byte, notes []string, err error) {
	if _, err := schema.Read(); err != nil { // with the position of the source
		return nil, nil, err
	}
	s, err := apisource.Bundle(DescriptionFiles(schema), schema.File)
	if err != nil {
		return nil, nil, failure.New(failure.CodeInvalidFile, "%w", err)
	}
	if i := pat.Index(s.Document); i >= 0 {
		return nil, nil, failure.New(failure.CodeTokenInFile, "the API description %s contains an access token (%s…)", schema.File, pat.Shown(string(s.Document[i:i+pat.Length]))).
			WithHint("remove it from the file, and revoke it: everyone who can read the file can use it")
	}
	if len(s.Problems) == 0 {
		return s.Document, nil, nil
	}
	first := s.Problems[0].String()
	if strict {
		return nil, nil, failure.New(failure.CodeInvalidFile, "%s", first)
	}
	if more := len(s.Problems) - 1; more > 0 {
		first += fmt.Sprintf(" (and %d more)", more)
	}
	return s.Document, []string{"the API description refers to what does not exist: " + first}, nil
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
