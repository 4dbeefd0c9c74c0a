package app

import (
	"context"
	"fmt"

	"example.com/projecthub/cmd/tool/internal/apisource"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/secret"
	"example.com/projecthub/hubclient/wire"
)

// Description is an API description of a local project, with the files to which it refers.
type Description struct {
	Text  []byte
	Files []string // the files that it was made of, relative to the workspace, with /, the source first
	Notes []string // about references that lead nowhere
}

// ReadDescription reads the API description in a file of a local project.
func ReadDescription(schema *workspace.Schema) (Description, error) {
	if _, err := schema.Read(); err != nil { // with the position of the source
		return Description{}, err
	}
	s, err := apisource.Bundle(schema.ReadFile, schema.File)
	if err != nil {
		return Description{}, failure.New(failure.CodeInvalidFile, "%w", err)
	}
	if i := pat.Index(s.Document); i >= 0 {
		token := string(s.Document[i : i+pat.Length])
		return Description{}, failure.New(failure.CodeTokenInFile,
			"the API description %s contains an access token (%s…)", schema.File, pat.Shown(token)).
			WithHint("remove it from the file, and revoke it: everyone who can read the file can use it")
	}
	d := Description{Text: s.Document, Files: s.Files}
	if d.Files[0] != schema.File { // schema.File is a link to it
		d.Files = append([]string{schema.File}, d.Files...)
	}
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

// Sensitive finds out which of the files are sensitive; dir is the workspace. Everyone who
// can see an API can read its description.
func (d Description) Sensitive(ctx context.Context, dir string, allowed []string) Sensitive {
	var files []*basefiles.File
	var secrets []Secret
	found, _ := secret.Find(d.Text) // which has the texts of all files
	for i, name := range d.Files {
		files = append(files, &basefiles.File{Path: name, OnDisk: name})
		s := Secret{Path: name}
		if i == 0 {
			s.Why = found.What
		}
		if s.Why != "" || basefiles.HoldsSecrets(name) {
			secrets = append(secrets, s)
		}
	}
	s := Ignored(ctx, dir, files)
	s.Secrets = NotAllowed(secrets, allowed)
	return s
}

// ListFiles lists on stderr the files of a description that has several, before it is sent.
func (a *App) ListFiles(d Description) {
	if len(d.Files) > 1 {
		a.Diagnose("The API description is made of %d files:", len(d.Files))
		for _, line := range Shortened(d.Files) {
			a.Diagnose("%s", line)
		}
	}
}

// maxFindings bounds how many findings of a schema are shown.
const maxFindings = 5

// FindingNotes returns notes about settings that the stack's schema does not allow, or that look like credentials.
func FindingNotes(findings []wire.FieldError) (notes []string) {
	for i, f := range findings {
		if i == maxFindings {
			return append(notes, fmt.Sprintf("and %d more like these", len(findings)-i))
		}
		notes = append(notes, FindingText(f))
	}
	return notes
}

// FindingText says what the stack's schema does not allow, or what looks like a credential.
func FindingText(f wire.FieldError) string {
	if f.Keyword == wire.KeywordCredential {
		return "settings" + f.Pointer + ": " + f.Detail
	}
	return "the stack's schema does not allow settings" + f.Pointer + ": " + f.Detail
}
